-- Takes values that still wait out of the delayed queue, in offer order and then the lean ones in due order.
-- Answers to: RDelayedQueue.poll() and poll(limit), since 3.10
-- KEYS: timeout, envelopes, quarantine, records
-- ARGV: how many to take at most
-- RETURN: the values, how many members were set aside
-- COST: O(n log m), n taken, m waiting
-- INCLUDE: envelope, taken

-- Fails on a wrong type before anything is written.
redis.call('ZCARD', keys.timeout)
redis.call('LLEN', keys.quarantine)
local recorded = redis.call('HLEN', keys.records) > 0

local values, aside = {}, 0
while #values < tonumber(ARGV[1]) do
  local member = redis.call('LPOP', keys.envelopes) or redis.call('ZRANGE', keys.timeout, 0, 0)[1]
  if not member then
    break
  end
  local value = taken(member, recorded)
  if value then
    values[#values + 1] = value
  else
    aside = aside + 1
  end
end
return {values, aside}
