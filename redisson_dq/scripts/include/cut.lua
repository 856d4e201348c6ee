-- Takes entries out of the envelope list whose places are known, or that are few.
-- KEYS: envelopes
local ERASED = 'redisson_dq: erased'

-- Takes the entries at these places out, and these members wherever they are.
local function cut(places, members)
  local first, last = math.huge, 0
  -- Marked first: what LREM takes out moves the places behind it.
  for _, place in ipairs(places) do
    redis.call('LSET', keys.envelopes, place, ERASED)
    first, last = math.min(first, place), math.max(last, place)
  end
  -- From the end of the list where the marks end sooner.
  local from = last > redis.call('LLEN', keys.envelopes) - first and -1 or 1
  for member in pairs(members) do
    redis.call('LREM', keys.envelopes, 1, member)
  end
  if #places > 0 then
    redis.call('LREM', keys.envelopes, from * #places, ERASED)
  end
end
