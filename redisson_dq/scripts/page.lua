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
local page, bytes, count = {}, 0, FIRST_READ
while #page < 2 * most and bytes < MOST_BYTES do
  local found = redis.call('ZRANGE', key, rank, rank + math.min(count, most - math.floor(#page / 2)) - 1, 'WITHSCORES')
  if #found == 0 then
    break
  end
  for i = 1, #found do
    page[#page + 1] = found[i]
  end
  rank = rank + math.floor(#found / 2)
  local read
  read, count = next_read(found, most, 2)
  bytes = bytes + read
end
return page
