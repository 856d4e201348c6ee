-- Makes room in a bounded queue for values that a blocking command took.
-- Answers to: the release after RBoundedBlockingQueue.take() and poll(timeout, unit), since 3.5
-- KEYS: capacity, capacity_channel
-- ARGV: how many; below zero when a value goes back
-- RETURN: how much room there is now
-- COST: O(1)
-- INCLUDE: full_memory, announce
despite_full_memory('GETEX', keys.capacity)
local room = redis.call('INCRBY', keys.capacity, ARGV[1])
announce(keys.capacity_channel, room)
return reply_with(room)
