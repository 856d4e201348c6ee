-- Takes values that still wait out of the delayed queue, in offer order.
-- Answers to: RDelayedQueue.poll() and poll(limit), since 3.10
-- KEYS: timeout, envelopes, quarantine
-- ARGV: how many to take at most
-- RETURN: the values, how many members were set aside
-- COST: O(n log m), n taken, m waiting
-- INCLUDE: envelope

-- Fails on a wrong type before anything is written.
redis.call('ZCARD', KEYS[1])
redis.call('LLEN', KEYS[3])

local values, aside = {}, 0
for _ = 1, tonumber(ARGV[1]) do
  local member = redis.call('LPOP', KEYS[2])
  if not member then
    break
  end
  local value = unwrap(member)
  if value then
    values[#values + 1] = value
  else
    redis.call('RPUSH', KEYS[3], (redis.call('ZSCORE', KEYS[1], member) or '') .. ' ' .. member)
    aside = aside + 1
  end
  redis.call('ZREM', KEYS[1], member)
end
return {values, aside}
