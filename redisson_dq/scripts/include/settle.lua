-- Follows an item from one id to the next, until it is settled.
-- INCLUDE: item_name, named, records, remember, events
local FOLLOWING = {'HDEL', 'HEXISTS', 'HGET', 'HSET', 'HSETNX', 'PEXPIRE', 'PTTL', 'ZADD', 'ZSCORE'}

-- Notes the id by which the item of a delivery is known now, at least until a time. The argument kind is "l" for an id in
-- deliveries, "d" for that of a dead letter. The argument value is given where its queue may not know it.
local function known_by(d, kind, id, until_ms, now_ms, value)
  local item, remember_ms = item_of(d)
  if not item then
    return
  elseif redis.call('HEXISTS', keys.records, 'c' .. item) == 1 then
    redis.call('HSET', keys.records, 'c' .. item, id)
    return
  elseif redis.call('HEXISTS', keys.records, 'e' .. item) == 0 then
    -- It came from another queue, or a client that knows nothing of places has dropped its record.
    local key = key_of_item(d)
    if key == '' or redis.call('HSETNX', keys.records, key, item) == 0 then
      return
    end
    local due = d.due > 0 and d.due or now_ms
    remember(item, {state = 'w', due = due, latest = 0, duplicate = 0, key = key}, remember_ms, now_ms)
  end
  redis.call('HSET', keys.records, 'p' .. item, kind .. id)
  if value then
    redis.call('HSET', keys.records, 'v' .. item, value)
  end
  local forget = tonumber(redis.call('ZSCORE', keys.forget, item) or 0)
  if forget < until_ms then
    live_until(forget_at(item, until_ms), now_ms)
  end
end

-- The value of a delivery is done, which was known by this id.
local function settle(d, id, now_ms)
  local item, remember_ms = item_of(d)
  if not item then
    return
  elseif redis.call('HDEL', keys.records, 'c' .. item) == 0 and place_of(item) == id then
    forget_place(item)
    local record = record_of(item)
    if record then
      record.state = 'd'
      remember(item, record, remember_ms, now_ms)
    end
  end
end

-- When the value of a lease that ends comes again, if a call has said so while it was held.
local function again_at(d, id, now_ms)
  local item = item_of(d)
  local text = item and redis.call('HGET', keys.records, 'n' .. item)
  if text then
    redis.call('HDEL', keys.records, 'n' .. item)
    local due, lease = string.match(text, '^(%d+) (.*)$')
    return lease == id and math.max(tonumber(due), now_ms) or nil
  end
  return nil
end

-- Settles the items of acked leases. records: false for one that is not known.
local function settle_all(records, ids, now_ms)
  for i, d in ipairs(records) do
    settle(d, ids[i], now_ms)
    note_event('done', '', d, nil, nil, ids[i])
  end
end
