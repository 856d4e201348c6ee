-- Ends leases for good: their values are done.
-- KEYS: timeout, leases, deliveries
-- INCLUDE: held, parts, first_write
local ENDING = {'HDEL', 'ZREM'}

-- "acked" or "lost" of each; then the entries and the ids of those that are held.
local function outcomes_of(ids, now_ms)
  local deadlines = deadlines_of(ids, now_ms)
  local outcomes, members, done = {}, {}, {}
  local met, lost = {}, false
  for i, id in ipairs(ids) do
    local member = deadlines[i] and not met[id] and held(id, deadlines[i], #ids)
    if member then
      met[id] = true
      members[#members + 1], done[#done + 1] = member, id
    end
    outcomes[i] = member and 'acked' or 'lost'
    lost = lost or not member
  end
  if lost then
    change_nothing('ZREMRANGEBYRANK', keys.timeout, 1, 0)
  end
  return outcomes, members, done
end

local function finish(members, done)
  in_parts('ZREM', keys.timeout, members)
  in_parts('ZREM', keys.leases, done)
  in_parts('HDEL', keys.deliveries, done)
end
