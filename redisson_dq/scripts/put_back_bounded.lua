-- Puts values that were popped for a caller who is gone back into a bounded queue, where they take their room again.
-- Answers to: nothing in Redisson
-- KEYS: ready, returned, capacity
-- ARGV: nonce, the nonce of a call whose reply came or '', "LPUSH" or "RPUSH", the values
-- RETURN: 1, or 0 if they were put back before
-- COST: O(k), k values
-- INCLUDE: clock, need, once, back, first_write, change_room
local _, now_ms = server_time()
-- Fails on a wrong type before anything is written.
redis.call('LLEN', keys.ready)
redis.call('ZCARD', keys.returned)
redis.call('GET', keys.capacity)
need(WRITES_NOTES, {ARGV[3], 'INCRBY'})
change_nothing(function() redis.call('ZREMRANGEBYRANK', keys.returned, 1, 0) end)
if was_done(ARGV[1], ARGV[2], now_ms) then
  return 0
end
change_room(3 - #ARGV)
push_back()
return 1
