-- Puts values back at the head of the ready list whose receiver never came to lease them.
-- KEYS: ready, arrivals
-- ARGV: how many at most
-- RETURN: how many
-- COST: O(n), n of them
-- INCLUDE: first_write
change_nothing(function() redis.call('LPOP', keys.arrivals, 0) end)
local count = 0
while count < tonumber(ARGV[1]) and redis.call('LMOVE', keys.arrivals, keys.ready, 'RIGHT', 'LEFT') do
  count = count + 1
end
return count
