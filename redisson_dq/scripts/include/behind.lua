-- One page of a zset or a list, for a reader who looks and changes nothing.
-- INCLUDE: find, reads

-- The most entries that a call looks at.
local MOST_LOOKED = 500

-- The rank of the first member after this score and this beginning of a member. Ties are sorted by bytes.
local function rank_behind(key, score, beginning)
  if score == '' then
    return 0
  end
  local low = redis.call('ZCOUNT', key, '-inf', '(' .. score)
  local high = low + redis.call('ZCOUNT', key, score, score)
  while low < high do
    local middle = math.floor((low + high) / 2)
    if compare(redis.call('ZRANGE', key, middle, middle)[1], beginning) <= 0 then
      low = middle + 1
    else
      high = middle
    end
  end
  return low
end

-- Calls visit with each member and its score from a rank on, until it gives false, too many bytes were read, or the
-- zset ends. Returns the last member that was visited and its score, or nothing at the end.
local function each_ranked(key, rank, visit)
  local looked, bytes, count = 0, 0, 1
  while true do
    local found = redis.call('ZRANGE', key, rank, rank + count - 1, 'WITHSCORES')
    for i = 1, #found, 2 do
      looked, bytes = looked + 1, bytes + #found[i]
      if not visit(found[i], found[i + 1]) or looked >= MOST_LOOKED or bytes > MOST_BYTES then
        return found[i], found[i + 1]
      end
    end
    if #found < 2 * count then
      return
    end
    rank = rank + count
    local _, most = next_read(found, MOST_LOOKED - looked, 2)
    count = most
  end
end
