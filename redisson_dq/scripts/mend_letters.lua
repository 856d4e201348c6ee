-- Finds the records of dead letters by their values.
-- KEYS: dead_info, dead_index
-- ARGV: of each the digest of its value, and how many letters with an equal value stand before it
-- RETURN: of each its id and its record in dead_info, or "" and ""
-- COST: O(n log d), n letters, d dead letters
local rows = {}
for i = 1, #ARGV, 2 do
  local low, high = '[' .. ARGV[i], '[' .. ARGV[i] .. '\255'
  local member = redis.call('ZRANGEBYLEX', keys.dead_index, low, high, 'LIMIT', ARGV[i + 1], 1)[1]
  local id = member and string.sub(member, 41)
  rows[#rows + 1] = {id or '', id and redis.call('HGET', keys.dead_info, id) or ''}
end
return rows
