-- One page of the recurring offers, by the due time of their waiting items.
-- KEYS: recurring, recurring_due
-- ARGV: first index, last index
-- RETURN: of each: id, due of the occurrence that waits, definition, value
-- COST: O(log r + s + n), r recurring offers, s the first index, n the length of the page
local rows = {}
local found = redis.call('ZRANGE', keys.recurring_due, ARGV[1], ARGV[2], 'WITHSCORES')
for i = 1, #found, 2 do
  local kept = redis.call('HMGET', keys.recurring, 'd' .. found[i], 'v' .. found[i])
  -- An offer whose fields are gone has no next occurrence. The next transfer drops it.
  if kept[1] and kept[2] then
    rows[#rows + 1] = {found[i], found[i + 1], kept[1], kept[2]}
  end
end
return rows
