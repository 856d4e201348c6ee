-- Runs a command with any number of values, in parts, as Lua's stack holds some thousand of them.
local function in_parts(command, key, values)
  for start = 1, #values, 1000 do
    redis.call(command, key, unpack(values, start, math.min(start + 999, #values)))
  end
end
