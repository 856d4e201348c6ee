-- Puts values into a list, though the server has reached its maxmemory.
-- KEYS: any
-- ARGV: "LPUSH" or "RPUSH", the values
-- RETURN: how many the list has then
-- COST: O(k), k values
-- INCLUDE: first_write
change_nothing(function() redis.call('LPOP', KEYS[1], 0) end)
local length = 0
for start = 2, #ARGV, 1000 do
  local stop = math.min(start + 999, #ARGV)
  if ARGV[1] == 'LPUSH' then
    length = redis.call('LPUSH', KEYS[1], unpack(ARGV, start, stop))
  else
    length = redis.call('RPUSH', KEYS[1], unpack(ARGV, start, stop))
  end
end
return length
