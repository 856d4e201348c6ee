-- Calls a function with parts of the values, as Lua's stack holds some thousand of them.
local function in_parts(values, write)
  for start = 1, #values, 1000 do
    write(unpack(values, start, math.min(start + 999, #values)))
  end
end
