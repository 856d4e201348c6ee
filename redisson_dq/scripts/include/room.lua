-- Makes room in a bounded queue for values that have left it.
-- KEYS: capacity, capacity_channel
-- INCLUDE: announce
local function make_room(count)
  if count > 0 and redis.call('GET', keys.capacity) then
    announce(keys.capacity_channel, redis.call('INCRBY', keys.capacity, count))
  end
end
