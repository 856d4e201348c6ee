-- Sweeps: drops the records whose time is over.
-- INCLUDE: find, records, remember, named, unlearn, foreign
local HOUR_MS, SEARCHED = 3600000, 1000
-- The record of an overdue item that still waits is looked at again after this many ms.
local OVERDUE_MS = 300000

-- Whether a value is ready, as far as a short search finds. The value of a cancelled item is not kept, and the next
-- receive is to drop it.
local function may_be_ready(value)
  for _, list in ipairs({keys.ready, keys.arrivals}) do
    local length = redis.call('LLEN', list)
    if length > SEARCHED or length > 0 and not (value and not redis.call('LPOS', list, value)) then
      return true
    end
  end
  return false
end

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
    if not may_be_ready(redis.call('HGET', keys.records, 'v' .. item)) then
      unlearn(id)
      return nil
    elseif record and record.state ~= 'r' then
      record.state = 'r'
      write(item, record)
    end
  end
  return now_ms + OVERDUE_MS
end

-- How many a call with another purpose drops.
local FEW_RECORDS = 20

-- Drops records whose time is over, up to a number. Returns how many were looked at.
local function sweep(now_ms, most)
  local over = redis.call('ZRANGEBYSCORE', keys.forget, '-inf', now_ms, 'WITHSCORES', 'LIMIT', 0, most)
  if #over > 0 then
    -- Fails on a wrong type before anything is dropped.
    redis.call('LLEN', keys.arrivals)
  end
  local last = nil
  for i = 1, #over, 2 do
    local id, again = over[i], nil
    local record, form = record_of(id)
    if is_id(id) then
      -- The version that knows a record in a newer form drops it.
      again = form and now_ms + HOUR_MS or look_again_at(id, record, now_ms)
    end
    if not is_id(id) then
      set_foreign_aside(keys.forget, id, over[i + 1])
    elseif again then
      last = math.max(last or 0, forget_at(id, again))
    elseif record then
      drop(id, record)
    else
      redis.call('ZREM', keys.forget, id)
      redis.call('HDEL', keys.records, 'c' .. id)
    end
  end
  if last then
    live_until(last, now_ms)
  end
  return math.floor(#over / 2)
end
