-- Finishes taking a member that is not in the envelope list.
-- KEYS: timeout, quarantine, newer, records
-- INCLUDE: envelope, unlearn, aside, named

local TAKING = {'HDEL', 'HGET', 'HSET', 'RPUSH', 'ZADD', 'ZREM', 'ZSCORE'}

-- Returns the member's value, or nil for one that cannot be read, which is set aside. Also gives how many went into
-- quarantine. recorded: whether any item has a record.
local function taken(member, recorded)
  local value, id = unwrap(member)
  local quarantined = 0
  if not value then
    quarantined = set_aside(member)
  else
    local d = unlearn(id)
    local item = recorded and item_at(id, d)
    local record = item and place_of(item) == id and redis.call('HGET', keys.records, 'e' .. item)
    if record and not newer_form('records', record) then
      redis.call('HSET', keys.records, 'e' .. item, 'd' .. string.sub(record, 2))
      forget_place(item)
    end
  end
  redis.call('ZREM', keys.timeout, member)
  return value, quarantined
end
