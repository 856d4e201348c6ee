-- Puts values that were popped for a caller who is gone back where they came from, once for each nonce.
-- Sets undecodable values aside too: their list is the ready list then.
-- KEYS: ready, returned, capacity
-- ARGV: nonce, the nonce of a call whose reply came or '', "LPUSH" or "RPUSH", "bounded" (they take their room again) or "", the values
-- RETURN: 1, or 0 if they were put back before
-- COST: O(k), k values
-- INCLUDE: clock, need, once, parts, first_write, change_room
local _, now_ms = server_time()
local bounded, values = ARGV[4] == 'bounded', {}
for i = 5, #ARGV do
  values[i - 4] = ARGV[i]
end
-- Fails on a wrong type before anything is written.
redis.call('LLEN', keys.ready)
redis.call('ZCARD', keys.returned)
if bounded then
  redis.call('GET', keys.capacity)
end
need(WRITES_NOTES, {ARGV[3]}, bounded and {'INCRBY'} or {})
change_nothing(function() redis.call('ZREMRANGEBYRANK', keys.returned, 1, 0) end)
if was_done(ARGV[1], ARGV[2], now_ms) then
  return 0
end
if bounded then
  change_room(-#values)
end
if ARGV[3] == 'LPUSH' then
  in_parts(values, function(...) redis.call('LPUSH', keys.ready, ...) end)
else
  in_parts(values, function(...) redis.call('RPUSH', keys.ready, ...) end)
end
return 1
