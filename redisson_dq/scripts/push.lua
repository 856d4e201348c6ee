-- Puts values into a list, though the server has reached its maxmemory.
-- KEYS: any
-- ARGV: "LPUSH" or "RPUSH", the values
-- RETURN: how many the list has then
-- COST: O(k), k values
-- INCLUDE: first_write, parts
change_nothing(function() redis.call('LPOP', KEYS[1], 0) end)
local is_first, length = table.remove(ARGV, 1) == 'LPUSH', 0
in_parts(ARGV, function(...)
  length = is_first and redis.call('LPUSH', KEYS[1], ...) or redis.call('RPUSH', KEYS[1], ...)
end)
return length
