-- One page of the dead-letter list, oldest first, with the record of each value.
-- KEYS: dead, dead_info, dead_index
-- ARGV: first index, last index
-- RETURN: of each its id (or ""), when it came in epoch ms, the queue it came from, its record, its value
-- COST: O(s + n log d), s the first index, n the length of the page, d dead letters
-- INCLUDE: letters, forms
local rows, met = {}, {}
for _, value in ipairs(redis.call('LRANGE', keys.dead, ARGV[1], ARGV[2])) do
  local id = letter_of(value, met[value])
  local info = id and redis.call('HGET', keys.dead_info, id)
  local at, name, text = letter(info)
  local form = newer_form('dead_info', info)
  met[value] = (met[value] or 0) + 1
  rows[#rows + 1] = {(at or form) and id or '', at or '0', name or '', text or form and 'v' .. form .. ' ' or '', value}
end
return rows
