-- Finds out whether anything that waits is only in the zset, so that it has to be looked at.
-- INCLUDE: held_members

-- The entries of more leases take too long to find.
local FEW_HELD = 1000

-- The sizes show it, unless entries are only in the list: nothing moves those, so one of them is its first sooner or later.
local function some_alone(listed, size)
  if size > listed then
    -- It may be a lease.
    local held = held_members(FEW_HELD)
    return not held or size - #held > listed or some_alone(listed, listed)
  end
  local first = redis.call('LINDEX', keys.envelopes, 0)
  return size > 0 and not redis.call('ZSCORE', keys.timeout, first)
end
