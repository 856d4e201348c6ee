-- Finishes taking a member that is not in the envelope list.
-- KEYS: timeout, quarantine, records
-- INCLUDE: envelope, unlearn

local TAKING = {'HDEL', 'HGET', 'HSET', 'RPUSH', 'ZREM', 'ZSCORE'}

-- Gives the member's value, or nil for one in no envelope format, which is set aside. recorded: whether any item has a
-- record.
local function taken(member, recorded)
  local value, id = unwrap(member)
  if not value then
    redis.call('RPUSH', keys.quarantine, (redis.call('ZSCORE', keys.timeout, member) or '') .. ' ' .. member)
  else
    unlearn(id)
    local record = recorded and redis.call('HGET', keys.records, 'e' .. id)
    if record then
      redis.call('HSET', keys.records, 'e' .. id, 'd' .. string.sub(record, 2))
    end
  end
  redis.call('ZREM', keys.timeout, member)
  return value
end
