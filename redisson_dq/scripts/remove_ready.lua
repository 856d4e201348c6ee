-- Takes ready values out: all that equal one of some, or all that equal none of them.
-- Answers to: RQueue.removeAll(Collection), retainAll(Collection), since 1.0
-- KEYS: ready
-- ARGV: "all" or "others", the values
-- RETURN: how many were taken out
-- COST: O(n k), n ready, k distinct values to take out
local taken = 0
if ARGV[1] == 'all' then
  for i = 2, #ARGV do
    taken = taken + redis.call('LREM', keys.ready, 0, ARGV[i])
  end
  return taken
end
local kept = {}
for i = 2, #ARGV do
  kept[ARGV[i]] = true
end
local size = redis.call('LLEN', keys.ready)
-- Turned round once: what stays goes to the end, in its order.
for _ = 1, size do
  local value = redis.call('LPOP', keys.ready)
  if kept[value] then
    redis.call('RPUSH', keys.ready, value)
  else
    taken = taken + 1
  end
end
return taken
