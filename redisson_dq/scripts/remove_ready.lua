-- Takes ready values out, namely all that equal one of some, or all that equal none of them.
-- Answers to: RQueue.removeAll(Collection), retainAll(Collection), since 1.0
-- KEYS: ready
-- ARGV: "all" or "others", the values
-- RETURN: how many were taken out
-- COST: O(n), n ready; O(n k) to take k values out
-- INCLUDE: values, need
need({'LLEN', 'RPUSH'})
local size = redis.call('LLEN', keys.ready)
if ARGV[1] == 'all' then
  remove_values()
else
  retain_values()
end
return size - redis.call('LLEN', keys.ready)
