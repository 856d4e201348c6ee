-- Sweeps: drops the records whose time is over.
-- KEYS: ready, timeout, forget, leases, deliveries, histories, history_ends
-- INCLUDE: find, records, remember, named, unlearn
local HOUR_MS, SEARCHED = 3600000, 1000
-- The record of an overdue item that still waits is looked at again after so many ms.
local OVERDUE_MS = 300000

-- When the record of an item that is not settled is looked at again, or nil.
local function look_again_at(item, record, now_ms)
  local cancelled = redis.call('HGET', keys.records, 'c' .. item)
  local id, kind = place_of(item)
  if kind == 'd' then
    -- Some scripts have no dead letters at hand.
    local is_there = not keys.dead_info or redis.call('HEXISTS', keys.dead_info, id) == 1
    return is_there and now_ms + HOUR_MS or nil
  elseif record and find(item, record.due) then
    return now_ms + OVERDUE_MS
  end
  id = cancelled or id
  local d = parsed(redis.call('HGET', keys.deliveries, id))
  if not d then
    return nil
  elseif not redis.call('ZSCORE', keys.leases, id) and not find(id, d.order) then
    -- It is ready, or somebody has taken it. A long list is not searched here.
    local value = redis.call('HGET', keys.records, 'v' .. item)
    if redis.call('LLEN', keys.ready) <= SEARCHED and not (value and redis.call('LPOS', keys.ready, value)) then
      unlearn(id)
      return nil
    elseif record then
      record.state = 'r'
      write(item, record)
    end
  end
  return now_ms + OVERDUE_MS
end

-- A call that is for something else drops so many.
local FEW_RECORDS = 20

-- Drops so many records at most whose time is over. Gives how many were looked at.
local function sweep(now_ms, most)
  local over = redis.call('ZRANGEBYSCORE', keys.forget, '-inf', now_ms, 'LIMIT', 0, most)
  for _, id in ipairs(over) do
    local record, form = record_of(id)
    -- The version that knows a record in a newer form drops it.
    local again = form and now_ms + HOUR_MS or look_again_at(id, record, now_ms)
    if again then
      live_until(forget_at(id, again), now_ms)
    elseif record then
      drop(id, record)
    else
      redis.call('ZREM', keys.forget, id)
      redis.call('HDEL', keys.records, 'c' .. id)
    end
  end
  return #over
end
