-- Takes out everything that waits. What receivers hold stays.
-- Answers to: RDelayedQueue.clear(), since 3.10
-- KEYS: timeout, envelopes, records, leases, deliveries, histories, history_ends
-- ARGV: none
-- RETURN: nothing
-- COST: O(m + l log m), m waiting, l leases and values that were delivered before
-- INCLUDE: clock, find, unlearn, parts, need
local _, now_ms = server_time()
local held = {}
local leases = redis.call('ZRANGEBYSCORE', keys.leases, string.format('(%.0f', now_ms), '+inf', 'WITHSCORES')
for i = 1, #leases, 2 do
  local member = find(leases[i], leases[i + 1])
  if member then
    held[#held + 1], held[#held + 2] = leases[i + 1], member
  end
end
local gone = {}
for _, member in ipairs(redis.call('ZRANGE', keys.histories, 0, -1)) do
  local id = string.sub(member, 41)
  local order = redis.call('ZSCORE', keys.history_ends, member)
  if order and find(id, order) then
    gone[#gone + 1] = id
  end
end
local ended = redis.call('ZRANGEBYSCORE', keys.leases, '-inf', now_ms, 'WITHSCORES')
for i = 1, #ended, 2 do
  -- A lease whose value Redisson has made ready is left to the next receive, which counts the crash.
  if find(ended[i], ended[i + 1]) then
    gone[#gone + 1] = ended[i]
  end
end
-- Fails on a wrong type before anything is written.
check_known()
need(UNLEARNING, {'UNLINK', 'ZADD'})
for _, id in ipairs(gone) do
  unlearn(id)
end
redis.call('UNLINK', keys.envelopes, keys.timeout, keys.records)
in_parts('ZADD', keys.timeout, held)
return 0
