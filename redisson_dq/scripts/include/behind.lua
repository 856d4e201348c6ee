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
  return bisect(low, low + redis.call('ZCOUNT', key, score, score), function(rank)
    return compare(redis.call('ZRANGE', key, rank, rank)[1], beginning) > 0
  end)
end

-- Calls visit with each member and its score from a rank on, until it gives false, too many bytes were read, or the
-- zset ends. Returns the last member that was visited and its score, or nothing at the end.
local function each_behind(key, rank, visit)
  local looked, bytes, last, at = 0, 0, nil, nil
  each_read(rank, rank + MOST_LOOKED - 1, MOST_LOOKED, 2, function(from, till)
    return redis.call('ZRANGE', key, from, till, 'WITHSCORES')
  end, function(member, score)
    looked, bytes = looked + 1, bytes + #member
    local is_last = not visit(member, score) or looked >= MOST_LOOKED or bytes > MOST_BYTES
    if is_last then
      last, at = member, score
    end
    return is_last
  end)
  return last, at
end
