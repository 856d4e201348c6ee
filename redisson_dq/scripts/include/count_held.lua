-- Counts the values that receivers hold.
-- INCLUDE: clock, find

-- Redisson's delete() and the end of a time to live take the entries, and leave the marks that they are held. Such
-- leases end before all others or after them, as a rule. This many at most are looked for at each end.
local GONE = 1000

-- How many of a number of leases have no entry, from one end on. The argument look: gives leases from a place on.
local function count_gone(look, count, found)
  local gone = 0
  while gone < count do
    -- As a rule the first one decides.
    local some = look(gone, gone == 0 and 1 or 100)
    for i = 1, #some, 2 do
      if (found or find)(some[i], some[i + 1]) then
        return gone
      end
      gone = gone + 1
    end
  end
  return gone
end

-- Also gives how many leases without an entry end before those that are held. The arguments replace GONE and find.
local function count_held(most, found)
  local _, now_ms = server_time()
  local now = string.format('(%.0f', now_ms)
  local count = redis.call('ZCOUNT', keys.leases, now, '+inf')
  local before = count_gone(function(at, most)
    return redis.call('ZRANGEBYSCORE', keys.leases, now, '+inf', 'WITHSCORES', 'LIMIT', at, most)
  end, math.min(count, most or GONE), found)
  count = count - before
  return count - count_gone(function(at, most)
    return redis.call('ZREVRANGEBYSCORE', keys.leases, '+inf', now, 'WITHSCORES', 'LIMIT', at, most)
  end, math.min(count, most or GONE), found), before
end
