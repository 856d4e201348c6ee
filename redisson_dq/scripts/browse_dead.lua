-- One page of the dead-letter list, oldest first, with its length. Changes nothing.
-- KEYS: dead, dead_info, dead_index
-- ARGV: first index, how many at most, how many bytes of each value
-- RETURN: the server's time in epoch us; the length; of each: its size, its first bytes, its id (or ""), when it came in epoch ms, the queue it came from, its record; the index of the next one, where more follow
-- COST: O(s + n log d), s the way to the first index from the nearer end, n the length of the page, d dead letters
-- INCLUDE: clock, letters, listed
local now_us = server_time()
local rows, met = {}, {}
local size, following = each_listed(keys.dead, tonumber(ARGV[1]), tonumber(ARGV[2]), function(value)
  local id = letter_of(value, met[value])
  local at, name, text = letter(id and redis.call('HGET', keys.dead_info, id))
  met[value] = (met[value] or 0) + 1
  rows[#rows + 1] = {#value, string.sub(value, 1, tonumber(ARGV[3])), at and id or '', at or '0', name or '', text or ''}
end)
return {now_us, size, rows, following or false}
