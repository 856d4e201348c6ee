-- Finds when the first value that waits is due, however many leases end before.
-- KEYS: timeout, leases
-- INCLUDE: int

-- The due time, or nil. The argument head: the score of the first entry. The argument held: how many leases are held.
-- The argument gone: how many leases before these have no entry any more. Counting by scores reads no entry. The search
-- ends with the last lease: the first entry after it is one that waits.
local function next_waiting(head, held, gone, now_ms)
  if not head or held == 0 or tonumber(head) <= now_ms then
    return head
  end
  local from = '(' .. int(now_ms)
  local function is_due_by(ms)
    local till = int(ms)
    local leases = redis.call('ZCOUNT', keys.leases, from, till) - gone
    return redis.call('ZCOUNT', keys.timeout, from, till) > math.max(0, math.min(held, leases))
  end
  local last = redis.call('ZREVRANGEBYSCORE', keys.leases, '+inf', from, 'WITHSCORES', 'LIMIT', 0, 1)[2]
  local early, late = now_ms, tonumber(last)
  if not is_due_by(late) then
    return redis.call('ZRANGEBYSCORE', keys.timeout, '(' .. last, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)[2]
  end
  while late - early > 1 do
    local middle = math.floor((early + late) / 2)
    if is_due_by(middle) then
      late = middle
    else
      early = middle
    end
  end
  return int(late)
end
