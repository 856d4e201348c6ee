-- Puts values that were popped for a caller who is gone back where they came from, once for each nonce.
-- Sets undecodable values aside too: their list is the ready list then.
-- Answers to: nothing in Redisson
-- KEYS: ready, returned
-- ARGV: nonce, the nonce of a call whose reply came or '', "LPUSH" or "RPUSH", the values
-- RETURN: 1, or 0 if they were put back before
-- COST: O(k), k values
-- INCLUDE: clock, need, once, back, first_write
local _, now_ms = server_time()
-- Fails on a wrong type before anything is written.
redis.call('LLEN', keys.ready)
redis.call('ZCARD', keys.returned)
need(WRITES_NOTES, {ARGV[3]})
change_nothing(function() redis.call('ZREMRANGEBYRANK', keys.returned, 1, 0) end)
if was_done(ARGV[1], ARGV[2], now_ms) then
  return 0
end
push_back()
return 1
