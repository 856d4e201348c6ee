-- The next members of a sorted set, whatever came and went before them.
-- KEYS: any
-- ARGV: the member that was read last and its score (both empty: from the beginning), how many at most
-- RETURN: member and score in turn
-- COST: O(log m + n), m the size of the set, n given back
-- INCLUDE: reads
local key, member, score, most = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3])
local rank = 0
if score ~= '' then
  rank = redis.call('ZRANK', key, member)
  -- Where the last one is gone, those of its score come again.
  rank = rank and rank + 1 or redis.call('ZCOUNT', key, '-inf', '(' .. score)
end
local page, bytes = {}, 0
each_read(rank, rank + most - 1, most, 2, function(from, till)
  return redis.call('ZRANGE', key, from, till, 'WITHSCORES')
end, function(found, at)
  page[#page + 1], page[#page + 2] = found, at
  bytes = bytes + #found
  return bytes >= MOST_BYTES
end)
return page
