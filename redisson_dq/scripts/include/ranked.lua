-- Goes through the zset by due times, some entries at a time.
-- INCLUDE: reads

local RANKED_AT_ONCE = 1000

-- Calls visit with each member and its due, from one rank on up to another, until visit gives true.
local function each_ranked(rank, last, visit)
  local count = FIRST_READ
  while rank <= last do
    local found = redis.call('ZRANGE', keys.timeout, rank, math.min(rank + count - 1, last), 'WITHSCORES')
    if #found == 0 then
      return
    end
    for i = 1, #found, 2 do
      if visit(found[i], found[i + 1]) then
        return
      end
    end
    rank = rank + math.floor(#found / 2)
    count = select(2, next_read(found, RANKED_AT_ONCE, 2))
  end
end
