-- Finishes taking a member that is not in the envelope list.
-- INCLUDE: envelope, unlearn, aside, named, need, first_write, check_types

local TAKING = {'HDEL', 'HGET', 'HSET', 'RPUSH', 'ZADD', 'ZREM', 'ZSCORE'}

-- Fails on a wrong type, and without rights, before anything is written. Returns whether any item has a record.
local function begin_taking(commands)
  check_known()
  check_types({keys.quarantine}, {keys.timeout, keys.newer})
  local recorded = redis.call('HLEN', keys.records) > 0
  need(TAKING, commands)
  change_nothing(function() redis.call('ZREMRANGEBYRANK', keys.timeout, 1, 0) end)
  return recorded
end

-- Returns the member's value, or nil for one that cannot be read, which is set aside. Also gives how many went into
-- quarantine, and the entry's id and record. recorded: whether any item has a record.
local function taken(member, recorded)
  local value, id = unwrap(member)
  local quarantined, d = 0, nil
  if not value then
    quarantined = set_aside(member)
  else
    d = unlearn(id)
    local item = recorded and item_at(id, d)
    local record = item and place_of(item) == id and redis.call('HGET', keys.records, 'e' .. item)
    if record and not newer_form('records', record) then
      redis.call('HSET', keys.records, 'e' .. item, 'd' .. string.sub(record, 2))
      forget_place(item)
    end
  end
  redis.call('ZREM', keys.timeout, member)
  return value, quarantined, id, d
end
