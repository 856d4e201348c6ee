-- Notes that leases have ended by their deadlines.
-- INCLUDE: delivery_record, leave, forms, events, check_types
local LAPSING = {'HDEL', 'HGET', 'HSET', 'PEXPIRE', 'PTTL', 'ZADD', 'ZREM'}

-- Whether any entry may be a lease.
local function some_leased()
  -- Fails on a wrong type before anything is written.
  local count = redis.call('ZCARD', keys.leases)
  if count > 0 then
    check_types({}, {keys.histories, keys.history_ends}, {keys.deliveries, keys.turns})
  end
  return count > 0
end

-- The value is ready again, and its receiver counts as crashed.
local function lapse(id, now_ms)
  local text = redis.call('HGET', keys.deliveries, id)
  if newer_form('deliveries', text) then
    -- The version that knows the record finds the end of the lease (reap.lua).
    return
  end
  redis.call('ZREM', keys.leases, id)
  -- The limit of its slot, and its unique key (lines.lua).
  redis.call('HDEL', keys.turns, 's' .. id, 'u' .. id)
  local d = parsed(text)
  if d then
    d.crashes = d.crashes + 1
    leave(id, d, now_ms, now_ms)
    note_event('lost', id, d, nil, nil, id)
  end
end
