-- Decides how much is read at once, as values may be large.

-- One entry at first. Then at most GROWTH times as many as before, and about READ_BYTES bytes, by the size of the
-- entries of the read before. A byte takes BYTE_US us each time.
local FIRST_READ, GROWTH, READ_BYTES, BYTE_US = 1, 16, 250000, 0.002
-- A call that takes or returns values stops after this many bytes, and after at least one entry.
local MOST_BYTES = 1000000

-- The bytes that were read, and how many entries the next read is for. step: 2 where each entry is followed by its due.
local function next_read(found, most, step)
  local bytes, count = 1, math.floor(#found / (step or 1))
  for i = 1, #found, step or 1 do
    bytes = bytes + #found[i]
  end
  return bytes, math.max(1, math.min(most, GROWTH * count, math.floor(READ_BYTES * count / bytes)))
end
