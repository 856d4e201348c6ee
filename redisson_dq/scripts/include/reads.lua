-- Tells how much is read at once, as values may be large.

-- One entry at first. Then at most so many times as many as before, and so many bytes by the entries of the read before.
-- A byte takes so many us each time.
local FIRST_READ, GROWTH, READ_BYTES, BYTE_US = 1, 16, 250000, 0.002
-- A call that takes or tells values stops at so many bytes, behind one entry at least.
local MOST_BYTES = 1000000

-- The bytes that were read, and how many entries the next read is for. step: 2 where each entry has its due behind it.
local function next_read(found, most, step)
  local bytes, count = 1, math.floor(#found / (step or 1))
  for i = 1, #found, step or 1 do
    bytes = bytes + #found[i]
  end
  return bytes, math.max(1, math.min(most, GROWTH * count, math.floor(READ_BYTES * count / bytes)))
end
