-- One page of a list, with its length. Changes nothing.
-- KEYS: any
-- ARGV: first index, how many at most, how many bytes of each element
-- RETURN: the server's time in epoch us; the length; of each: its size and its first bytes; the index of the next one, where more follow
-- COST: O(s + n), s the way to the first index from the nearer end, n the length of the page
-- INCLUDE: clock, listed
local now_us = server_time()
local rows = {}
local size, following = each_listed(KEYS[1], tonumber(ARGV[1]), tonumber(ARGV[2]), function(value)
  rows[#rows + 1] = {#value, string.sub(value, 1, tonumber(ARGV[3]))}
end)
return {now_us, size, rows, following or false}
