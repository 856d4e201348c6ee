-- Finds leases that somebody else has ended: Redisson's transfer knows nothing of them. So a few at a time are checked for
-- their end. Returns how many.
-- INCLUDE: find, lapse, foreign
local function reap(now_ms, most)
  set_scored_aside(keys.histories)
  local found = redis.call('ZRANGEBYSCORE', keys.leases, '-inf', now_ms, 'WITHSCORES', 'LIMIT', 0, most)
  for i = 1, #found, 2 do
    if not is_id(found[i]) then
      set_foreign_aside(keys.leases, found[i], found[i + 1])
    elseif not find(found[i], found[i + 1]) then
      lapse(found[i], now_ms)
    end
  end
  return math.floor(#found / 2)
end
