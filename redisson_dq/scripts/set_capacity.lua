-- Says how many values a bounded queue may hold, unless that was said before.
-- Answers to: RBoundedBlockingQueue.trySetCapacity(int), since 3.5
-- KEYS: capacity, capacity_channel
-- ARGV: how many
-- RETURN: 1 if it was set, else 0
-- COST: O(1)
-- INCLUDE: announce
if redis.call('GET', keys.capacity) then
  return reply_with(0)
end
redis.call('SET', keys.capacity, ARGV[1])
announce(keys.capacity_channel, ARGV[1])
return reply_with(1)
