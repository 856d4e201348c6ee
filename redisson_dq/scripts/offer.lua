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

-- Fails on a wrong type before anything is written.
redis.call('LLEN', KEYS[2])

local values, dues = {}, {}
for i = 2, #ARGV, 2 do
  local due = ARGV[i]
  if string.byte(due) == 64 then
    dues[#dues + 1] = tonumber(string.sub(due, 2))
  else
    dues[#dues + 1] = now_ms + due
  end
  values[#values + 1] = ARGV[i + 1]
end

-- Ids are big endian: 52 bits of microseconds, then 12 bits of sequence. Bytes that grow with offer order keep
-- values due in the same millisecond in that order, as ties in a zset are sorted by the member's bytes.
local id_us, id_seq = now_us, -1
local function wrap(value)
  id_seq = id_seq + 1
  if id_seq == 4096 then
    id_us, id_seq = id_us + 1, 0
  end
  local high, low = math.floor(id_us / 1048576), (id_us % 1048576) * 4096 + id_seq
  if ARGV[1] == 'legacy' then
    return struct.pack('>I4I4<I8c0', high, low, #value, value)
  end
  return struct.pack('>BI4I4<I8c0', 8, high, low, #value, value)
end

-- After a step back of the server's clock an id may be in use. An equal member would be lost, so another is made.
local function exists(members)
  for _, score in ipairs(redis.call('ZMSCORE', KEYS[1], unpack(members))) do
    if score then
      return true
    end
  end
  return false
end

local first, first_due
for start = 1, #values, 1000 do
  local stop = math.min(start + 999, #values)
  local members
  repeat
    members = {}
    for i = start, stop do
      members[#members + 1] = wrap(values[i])
    end
  until not exists(members)

  local scored = {}
  for i, member in ipairs(members) do
    local due = dues[start + i - 1]
    scored[2 * i - 1], scored[2 * i] = due, member
    if not first or due < first_due then
      first, first_due = member, due
    end
  end
  redis.call('ZADD', KEYS[1], unpack(scored))
  redis.call('RPUSH', KEYS[2], unpack(members))
end
if redis.call('ZRANGE', KEYS[1], 0, 0)[1] == first then
  redis.call('PUBLISH', KEYS[3], first_due)
end
return #values
