-- Puts values into the delayed queue, all of them or none, and announces a new head.
-- Answers to: RDelayedQueue.offer(e, delay, unit), since 3.10
-- KEYS: timeout, envelopes, channel, settings, alarm, leases
-- ARGV: envelope ("current", "legacy" or "lean"), then per value: due ("250000" us from now, "@1700000000000" epoch ms), value
-- RETURN: how many were added (0: the queue is full), id and due of the first, the server's time in epoch us
-- COST: O(n log m), n values offered, m waiting
-- INCLUDE: clock, add, need, announce, held_now
local now_us = server_time()

-- Fails on a wrong type before anything is written.
redis.call('LLEN', keys.envelopes)
local largest = tonumber(redis.call('HGET', keys.settings, 'max_size') or nil)
if largest and redis.call('ZCARD', keys.timeout) - count_held() + (#ARGV - 1) / 2 > largest then
  return reply_with({0, '', 0, now_us})
end

need(rights_to_add(ARGV[1]))
local values, dues = {}, {}
for i = 2, #ARGV, 2 do
  dues[#dues + 1] = due_of(ARGV[i], now_us)
  values[#values + 1] = ARGV[i + 1]
end

local wrap = wrapper(ARGV[1], now_us)
local head, head_due, first_id
for start = 1, #values, 1000 do
  local members, scored, id
  repeat
    members, scored = {}, {}
    for i = start, math.min(start + 999, #values) do
      local n = #members + 1
      members[n], id = wrap(values[i])
      scored[2 * n - 1], scored[2 * n] = dues[i], members[n]
      if i == 1 then
        first_id = id
      end
    end
  until store(ARGV[1], members, scored)
  for n, member in ipairs(members) do
    local due = scored[2 * n - 1]
    if not head or due < head_due then
      head, head_due = member, due
    end
  end
end
if redis.call('ZRANGE', keys.timeout, 0, 0)[1] == head then
  announce_head(head_due)
end
return reply_with({#values, first_id, dues[1], now_us})
