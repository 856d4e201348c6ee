-- Forgets the ids of ready items whose values somebody takes away: they were not delivered, so they may be offered again.
-- INCLUDE: history, unlearn, find, named, records, bury, remember, digest, delivery_record, need, events, check_types
local TAKING_AWAY = {'EXISTS', 'HDEL', 'HGET', 'HSET', 'PEXPIRE', 'PTTL', 'ZADD', 'ZRANGEBYLEX', 'ZREM', 'ZSCORE'}
-- How far a clock may be ahead, and a transfer early.
local AHEAD_MS = 2000

-- Whether any item has an id. Fails on a wrong type, and without rights, before anything is written.
local function begin_taking_away()
  if redis.call('EXISTS', keys.histories) == 0 or redis.call('EXISTS', keys.records) == 0 then
    return false
  end
  check_types({}, {keys.forget, keys.timeout}, {keys.records})
  check_known()
  need(TAKING_AWAY)
  return true
end

local function forget_item(d, remember_ms, now_ms)
  local item = item_of(d)
  if item and place_of(item) == d.id then
    local record = record_of(item)
    forget_place(item)
    if record then
      live_until(bury(item, record, record.due, remember_ms, now_ms), now_ms)
    end
  end
end

-- Forgets a number of values that equal this one and were taken away, the oldest ones as far as is known.
local function taken_away(named, value, count, remember_ms, now_ms)
  for _ = 1, named and count or events_kept and math.min(count, 1000) or 0 do
    local d = named and history_of(value, digest_of(value)) or nil
    note_event('removed', '', d, value)
    if d then
      forget_item(d, remember_ms, now_ms)
    elseif not events_kept then
      return
    end
  end
end

-- All ready values were taken away.
local function all_taken_away(remember_ms, now_ms)
  for _, member in ipairs(redis.call('ZRANGE', keys.histories, 0, -1)) do
    local id, order = string.sub(member, 41), order_of(member)
    local d = order <= now_ms + AHEAD_MS and not find(id, order) and unlearn(id)
    if d then
      d.id = id
      forget_item(d, remember_ms, now_ms)
    end
  end
end
