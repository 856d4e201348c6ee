-- Puts values into the delayed queue, all of them or none, and announces a new head.
-- Answers to: RDelayedQueue.offer(e, delay, unit), since 3.10
-- KEYS: timeout, envelopes, channel
-- ARGV: envelope ("current" or "legacy"), then per value: due ("250" ms from now, "@1700000000000" epoch ms), value
-- RETURN: how many values were added
-- COST: O(n log m), n values offered, m waiting
local time = redis.call('TIME')
local now_us = time[1] * 1000000 + time[2]
-- Rounded up, so that no value is due sooner than its delay after the offer.
local now_ms = math.ceil(now_us / 1000)

-- Ids are big endian: 52 bits of microseconds, then 12 bits of sequence. Bytes that grow with offer order keep
-- values due in the same millisecond in that order, as ties in a zset are sorted by the member's bytes.
local id_us, id_seq = now_us, -1
local function next_id()
  id_seq = id_seq + 1
  if id_seq == 4096 then
    id_us, id_seq = id_us + 1, 0
  end
  return struct.pack('>I4I4', math.floor(id_us / 1048576), (id_us % 1048576) * 4096 + id_seq)
end

-- Fails on a wrong type before anything is written.
redis.call('LLEN', KEYS[2])

local id_prefix = ARGV[1] == 'legacy' and '' or string.char(8)
local members = {}
local first, first_due
for i = 2, #ARGV, 2 do
  local due, value = ARGV[i], ARGV[i + 1]
  if string.byte(due) == 64 then
    due = tonumber(string.sub(due, 2))
  else
    due = now_ms + tonumber(due)
  end
  local tail = struct.pack('Lc0', #value, value)
  local member
  -- NX: after a step back of the server's clock an id may exist already; take the next one then.
  repeat
    member = id_prefix .. next_id() .. tail
  until redis.call('ZADD', KEYS[1], 'NX', due, member) == 1
  members[#members + 1] = member
  if not first or due < first_due then
    first, first_due = member, due
  end
end

for i = 1, #members, 1000 do
  redis.call('RPUSH', KEYS[2], unpack(members, i, math.min(i + 999, #members)))
end
if redis.call('ZRANGE', KEYS[1], 0, 0)[1] == first then
  redis.call('PUBLISH', KEYS[3], first_due)
end
return #members
