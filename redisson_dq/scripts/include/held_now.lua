-- Distinguishes values that wait from values that receivers hold. Both are in the zset. A lease whose deadline has
-- passed waits again.
-- INCLUDE: clock, envelope

-- How many leases there are, and the time.
local function count_leases()
  local _, now_ms = server_time()
  return redis.call('ZCOUNT', keys.leases, string.format('(%.0f', now_ms), '+inf'), now_ms
end

-- A function that says whether a member is held, or nil where none is.
local function held_now()
  local count, now_ms = count_leases()
  if count == 0 then
    return nil
  end
  return function(member)
    local _, id = unwrap(member)
    -- No lease has the id of a lean entry.
    local deadline = id and #id ~= 9 and redis.call('ZSCORE', keys.leases, id)
    return deadline and tonumber(deadline) > now_ms
  end
end
