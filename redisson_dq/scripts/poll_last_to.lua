-- Takes the value that was offered last out of the delayed queue and puts it at the front of a list.
-- Answers to: RDelayedQueue.pollLastAndOfferFirstTo(String), since 3.10
-- KEYS: timeout, envelopes, quarantine, records, destination
-- ARGV: none
-- RETURN: how many members were set aside, the value or nil
-- COST: O(log m), m waiting
-- INCLUDE: envelope

-- Fails on a wrong type before anything is written.
redis.call('ZCARD', keys.timeout)
redis.call('LLEN', keys.quarantine)
redis.call('HLEN', keys.records)
redis.call('LLEN', keys.destination)

local aside = 0
while true do
  local member = redis.call('RPOP', keys.envelopes)
  if not member then
    return {aside}
  end
  local value, id = unwrap(member)
  if value then
    local record = redis.call('HGET', keys.records, 'e' .. id)
    if record then
      redis.call('HSET', keys.records, 'e' .. id, 'd' .. string.sub(record, 2))
    end
    redis.call('LPUSH', keys.destination, value)
  else
    redis.call('RPUSH', keys.quarantine, (redis.call('ZSCORE', keys.timeout, member) or '') .. ' ' .. member)
    aside = aside + 1
  end
  redis.call('ZREM', keys.timeout, member)
  if value then
    return {aside, value}
  end
end
