-- One page of a list, for a reader who looks and changes nothing.
-- INCLUDE: reads

-- The most values that a call returns.
local MOST_LISTED = 500

-- Calls visit with each value from an index on. Returns the length of the list, and the index of the next value where
-- more follow. Large values end a page early.
local function each_listed(key, first, most, visit)
  local size, bytes, index = redis.call('LLEN', key), 0, first
  local last = math.min(size, first + math.min(most, MOST_LISTED))
  local count = 1
  while index < last and bytes <= MOST_BYTES do
    local found = redis.call('LRANGE', key, index, index + math.min(count, last - index) - 1)
    for _, value in ipairs(found) do
      bytes = bytes + #value
      visit(value)
    end
    index = index + #found
    local _, more = next_read(found, most)
    count = more
  end
  return size, index < size and index or nil
end
