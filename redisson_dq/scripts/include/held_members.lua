-- Finds the entries of all leases that are held, or gives nil where there are more than a number.
-- INCLUDE: held_now, find
local function held_members(most)
  local count, now_ms = count_leases()
  if count > most then
    return nil
  end
  local members = {}
  local leases = count == 0 and {}
    or redis.call('ZRANGEBYSCORE', keys.leases, string.format('(%.0f', now_ms), '+inf', 'WITHSCORES')
  for i = 1, #leases, 2 do
    members[#members + 1] = find(leases[i], leases[i + 1])
  end
  return members
end
