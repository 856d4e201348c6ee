-- Takes values that still wait out of the delayed queue, in offer order.
-- Answers to: RDelayedQueue.poll() and poll(limit), since 3.10
-- KEYS: timeout, envelopes, quarantine, records
-- ARGV: how many to take at most
-- RETURN: the values, how many members were set aside
-- COST: O(n log m), n taken, m waiting
-- INCLUDE: envelope

-- Fails on a wrong type before anything is written.
redis.call('ZCARD', keys.timeout)
redis.call('LLEN', keys.quarantine)
local recorded = redis.call('HLEN', keys.records) > 0

local values, aside = {}, 0
while #values < tonumber(ARGV[1]) do
  local member = redis.call('LPOP', keys.envelopes)
  if not member then
    break
  end
  local value, id = unwrap(member)
  if value then
    values[#values + 1] = value
    local record = recorded and redis.call('HGET', keys.records, 'e' .. id)
    if record then
      redis.call('HSET', keys.records, 'e' .. id, 'd' .. string.sub(record, 2))
    end
  else
    redis.call('RPUSH', keys.quarantine, (redis.call('ZSCORE', keys.timeout, member) or '') .. ' ' .. member)
    aside = aside + 1
  end
  redis.call('ZREM', keys.timeout, member)
end
return {values, aside}
