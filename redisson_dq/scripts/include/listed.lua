-- One page of a list, for a reader who looks and changes nothing.
-- INCLUDE: reads

-- The most values that a call returns.
local MOST_LISTED = 500

-- Calls visit with each value from an index on. Returns the length of the list, and the index of the next value where
-- more follow. Large values end a page early.
local function each_listed(key, first, most, visit)
  local size, bytes, index = redis.call('LLEN', key), 0, first
  local last = math.min(size, first + math.min(most, MOST_LISTED))
  each_read(first, last - 1, most, 1, function(from, till)
    return redis.call('LRANGE', key, from, till)
  end, function(value)
    bytes, index = bytes + #value, index + 1
    visit(value)
    return bytes > MOST_BYTES
  end)
  return size, index < size and index or nil
end
