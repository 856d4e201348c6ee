-- Moves a value out of a bounded queue to an end of another list, and makes room for one.
-- Answers to: RBoundedBlockingQueue.pollLastAndOfferFirstTo(String), since 3.5
-- KEYS: ready, capacity, capacity_channel, destination
-- ARGV: "LEFT" or "RIGHT" it is taken from, "LEFT" or "RIGHT" it goes to
-- RETURN: the value or nil
-- COST: O(1)
-- INCLUDE: need, full_memory, announce

need({'INCRBY'})
despite_full_memory('GETEX', keys.capacity)
-- Fails on a wrong type before anything is written.
if redis.call('GET', keys.capacity) then
  redis.call('INCRBY', keys.capacity, 0)
end
local value = redis.call('LMOVE', keys.ready, keys.destination, ARGV[1], ARGV[2])
if value and keys.ready ~= keys.destination then
  announce(keys.capacity_channel, redis.call('INCRBY', keys.capacity, 1))
end
return reply_with(value)
