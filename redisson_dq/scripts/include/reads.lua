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

-- Reads from one place on up to another, some entries at a time and at most a number of them. Calls visit with each entry,
-- and with what follows it where step is 2, until that gives true or nothing more is there.
local function each_read(first, last, most, step, read, visit)
  local count = FIRST_READ
  while first <= last do
    count = math.min(count, last - first + 1)
    local found = read(first, first + count - 1)
    for i = 1, #found, step do
      if visit(found[i], step == 2 and found[i + 1] or nil) then
        return
      end
    end
    if #found < step * count then
      return
    end
    first = first + count
    count = select(2, next_read(found, most, step))
  end
end
