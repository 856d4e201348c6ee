-- Removes dead letters for good.
-- Answers to: nothing in RBlockingQueue
-- KEYS: dead, dead_info, dead_index
-- ARGV: "ids" or "all", how many at most, the ids
-- RETURN: how many were removed
-- COST: O(n log d), n removed, d dead letters; O(n d) by ids
-- INCLUDE: letters, need
-- Fails on a wrong type before anything is written.
redis.call('HLEN', keys.dead_info)
redis.call('ZCARD', keys.dead_index)
need(LETTERING)
local count = 0
take_letters(ARGV[1], {unpack(ARGV, 3)}, ARGV[2], function()
  count = count + 1
end)
drop_orphans()
return count
