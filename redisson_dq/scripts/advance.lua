-- Puts the next occurrence of a recurring offer in, once, however many clients try.
-- Answers to: nothing in Redisson
-- KEYS: timeout, envelopes, channel, recurring, recurring_due, alarm
-- ARGV: envelope ("current" or "legacy"), id, definition, due of the occurrence that has come, due of the next one in epoch ms (or "": it was the last)
-- RETURN: 1 if this call did it, else 0
-- COST: O(log m), m waiting
-- INCLUDE: clock, add, need, full_memory, announce
local envelope, id, definition, come, due = unpack(ARGV)
if redis.call('ZSCORE', keys.recurring_due, id) ~= come
  or redis.call('HGET', keys.recurring, 'd' .. id) ~= definition then
  return reply_with(0)
end
if due == '' then
  need({'HDEL'})
  redis.call('ZREM', keys.recurring_due, id)
  redis.call('HDEL', keys.recurring, 'd' .. id, 'v' .. id, 'e' .. id)
  return reply_with(1)
end
redis.call('LLEN', keys.envelopes)
local value, before = unpack(redis.call('HMGET', keys.recurring, 'v' .. id, 'e' .. id))
-- A lean offer stays lean, unless this process writes the legacy format.
if envelope == 'current' and before and #before == 9 then
  envelope = 'lean'
end
need(rights_to_add(envelope), {'HSET'})
-- The new occurrence takes the place of the delivered one.
despite_full_memory('ZREMRANGEBYRANK', keys.timeout, 1, 0)
local now_us = server_time()
local entry = adder(envelope, now_us)(value, tonumber(due))
redis.call('HSET', keys.recurring, 'e' .. id, entry)
redis.call('ZADD', keys.recurring_due, due, id)
return reply_with(1)
