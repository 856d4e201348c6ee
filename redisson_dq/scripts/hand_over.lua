-- Ends the caller's role as the mover of a queue, and makes the other clients look, so that one goes on.
-- KEYS: channel, mover
-- ARGV: who calls
-- RETURN: 1 if it was the mover, else 0
-- COST: O(1)
-- INCLUDE: announce
if string.match(redis.call('GET', keys.mover) or '', '^%S+') ~= ARGV[1] then
  return reply_with(0)
end
redis.call('DEL', keys.mover)
-- 0 is a time that has passed.
announce(keys.channel, 0)
return reply_with(1)
