-- Tells how much is read at once, as values may be large.

-- So many entries at first. Then so many bytes, by the entries of the read before. A byte takes so many us each time.
local FIRST_READ, READ_BYTES, BYTE_US = 25, 250000, 0.002

-- The bytes that were read, and how many entries the next read is for.
local function next_read(found, most)
  local bytes = 1
  for _, member in ipairs(found) do
    bytes = bytes + #member
  end
  return bytes, math.max(1, math.min(most, math.floor(READ_BYTES * #found / bytes)))
end
