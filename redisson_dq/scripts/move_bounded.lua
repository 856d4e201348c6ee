-- Moves a value out of a bounded queue to an end of another list, and makes room for one.
-- Answers to: RBoundedBlockingQueue.pollLastAndOfferFirstTo(String), since 3.5
-- KEYS: ready, arrivals, timeout, capacity, capacity_channel, settings, destination
-- ARGV: "LEFT" or "RIGHT" it is taken from, "LEFT" or "RIGHT" it goes to
-- RETURN: the value or nil
-- COST: O(1)
-- INCLUDE: need, first_write, announce, capacity

need({'INCRBY'})
change_nothing(function() redis.call('GETEX', keys.capacity) end)
-- Fails on a wrong type before anything is written.
redis.call('GET', keys.capacity)
local value = redis.call('LMOVE', keys.ready, keys.destination, ARGV[1], ARGV[2])
if value and keys.ready ~= keys.destination then
  give_room(1)
end
return reply_with(value)
