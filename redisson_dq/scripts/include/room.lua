-- Makes room in a bounded queue for values that have left it.
-- KEYS: capacity, capacity_channel
-- INCLUDE: announce
local function make_room(count)
  -- The values have left. So a capacity that is no number is not this call's error, but that of the next offer.
  local room = count > 0 and redis.pcall('GET', keys.capacity)
  if type(room) == 'string' and string.match(room, '^%-?%d+$') then
    announce(keys.capacity_channel, redis.call('INCRBY', keys.capacity, count))
  end
end
