-- Changes the room of a bounded queue.

-- The room, or nil where the key holds no number. That is not the error of a call whose values have left or come, but that
-- of the next offer.
local function room_in(text)
  -- Redis counts in 64 bits.
  return type(text) == 'string' and #text < 16 and tonumber(string.match(text, '^%-?%d+$') or nil) or nil
end

-- Returns the new room, or nil.
local function change_room(count)
  return room_in(redis.pcall('GET', keys.capacity)) and redis.call('INCRBY', keys.capacity, count)
end
