-- Finds leases that are still held.
-- INCLUDE: find

local SETTLING = {'HDEL', 'HGET', 'ZCOUNT', 'ZRANGE', 'ZRANGEBYSCORE', 'ZREM'}

-- The leases of one call end at the same time, so they are read together. deadline -> id -> member.
local together = {}

-- The deadlines of leases, or false where one is over.
local function deadlines_of(ids, now_ms)
  local found = {}
  for start = 1, #ids, 1000 do
    local part = redis.call('ZMSCORE', keys.leases, unpack(ids, start, math.min(start + 999, #ids)))
    for i, deadline in ipairs(part) do
      found[start + i - 1] = deadline and tonumber(deadline) > now_ms and deadline
    end
  end
  return found
end

-- The member of a lease that is held until a deadline, which several leases may have; nil when it was taken away.
local function held(id, deadline, count)
  local found = together[deadline]
  if not found then
    found = {}
    together[deadline] = found
    local most = math.max(2, 4 * count)
    for _, member in ipairs(redis.call('ZRANGEBYSCORE', keys.timeout, deadline, deadline, 'LIMIT', 0, most)) do
      -- The ids of leases have ten bytes after their number, or eight in the legacy envelope.
      found[string.byte(member) == 10 and string.sub(member, 2, 11) or string.sub(member, 1, 8)] = member
    end
  end
  return found[id] or find(id, deadline)
end
