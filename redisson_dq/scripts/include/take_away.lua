-- Takes values out of the ready list, undelivered. Items with an id among them are forgotten, so they may be offered again.
-- INCLUDE: history, unlearn, find, named, records, remember, digest, delivery_record, need, events, check_types, item_name
local TAKING_AWAY = {'EXISTS', 'HDEL', 'HGET', 'HSET', 'PEXPIRE', 'PTTL', 'ZADD', 'ZRANGEBYLEX', 'ZREM', 'ZSCORE'}
-- How far a clock may be ahead, and a transfer early.
local AHEAD_MS = 2000

-- Whether any item has an id. Fails on a wrong type, and without rights, before anything is written. The argument all:
-- all values are taken.
local function begin_taking_away(all)
  if redis.call('EXISTS', keys.histories) == 0 or redis.call('EXISTS', keys.records) == 0 then
    return false
  end
  check_types({}, {keys.forget, keys.timeout}, {keys.records})
  check_known()
  need(TAKING_AWAY, all and {'ZRANGE'} or {})
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

-- The list is turned round once: values that stay go to the end, in their order.
local function retain_values(gone)
  local kept = {}
  for i = 3, #ARGV do
    kept[ARGV[i]] = true
  end
  for _ = 1, redis.call('LLEN', keys.ready) do
    local value = redis.call('LPOP', keys.ready)
    if kept[value] then
      redis.call('RPUSH', keys.ready, value)
    else
      gone(value, 1)
    end
  end
end

-- The values at these indexes stay.
local function trim_values(first, last, gone, tells)
  local before = tells and redis.call('LRANGE', keys.ready, 0, -1) or {}
  redis.call('LTRIM', keys.ready, first, last)
  local left = tells and redis.call('LLEN', keys.ready) or 0
  local from = tonumber(first) < 0 and math.max(0, #before + first) or tonumber(first)
  for i, value in ipairs(before) do
    if i <= from or i > from + left then
      gone(value, 1)
    end
  end
end

-- Takes away 'some' that equal ARGV[4], as many as LREM takes for ARGV[3]; 'all' that equal one of ARGV from 3 on; the
-- 'others'; or by 'trim' those beyond the indexes ARGV[3] and ARGV[4].
local function take_values_away(which, remember_ms, now_ms)
  local named = begin_taking_away()
  local function gone(value, count)
    taken_away(named, value, count, remember_ms, now_ms)
  end
  if which == 'some' then
    gone(ARGV[4], redis.call('LREM', keys.ready, ARGV[3], ARGV[4]))
  elseif which == 'all' then
    for i = 3, #ARGV do
      gone(ARGV[i], redis.call('LREM', keys.ready, 0, ARGV[i]))
    end
  elseif which == 'others' then
    retain_values(gone)
  else
    trim_values(ARGV[3], ARGV[4], gone, named or events_kept)
  end
end
