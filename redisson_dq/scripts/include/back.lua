-- Returns popped values to the end of the ready list that they came from: ARGV from 4 on, by the command ARGV[3].
-- KEYS: ready
-- INCLUDE: parts
local function push_back()
  local values = {}
  for i = 4, #ARGV do
    values[i - 3] = ARGV[i]
  end
  if ARGV[3] == 'LPUSH' then
    in_parts(values, function(...) redis.call('LPUSH', keys.ready, ...) end)
  else
    in_parts(values, function(...) redis.call('RPUSH', keys.ready, ...) end)
  end
end
