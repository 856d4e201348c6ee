-- Whole numbers in eight bytes, which sort as the numbers do.

local function eight_bytes(number)
  return struct.pack('>I4I4', math.floor(number / 4294967296), number % 4294967296)
end

-- The number in a text, from a byte on.
local function number_at(text, at)
  local high, low = struct.unpack('>I4I4', text, at)
  return high * 4294967296 + low
end
