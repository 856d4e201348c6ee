-- Goes through the zset by due times, some entries at a time.
-- INCLUDE: reads

local RANKED_AT_ONCE = 1000

-- Calls visit with each member and its due, from one rank on up to another, until visit gives true.
local function each_ranked(rank, last, visit)
  each_read(rank, last, RANKED_AT_ONCE, 2, function(from, till)
    return redis.call('ZRANGE', keys.timeout, from, till, 'WITHSCORES')
  end, visit)
end
