-- Ends leases for good: their values are done.
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
    change_nothing(function() redis.call('ZREMRANGEBYRANK', keys.timeout, 1, 0) end)
  end
  return outcomes, members, done
end

local function finish(members, done)
  in_parts(members, function(...) redis.call('ZREM', keys.timeout, ...) end)
  in_parts(done, function(...) redis.call('ZREM', keys.leases, ...) end)
  in_parts(done, function(...) redis.call('HDEL', keys.deliveries, ...) end)
end
