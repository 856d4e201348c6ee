-- Sets aside items that are too late to be delivered: the last thousand of them, and how many there were.
-- INCLUDE: parts, unlearn, named, delivery_record, events
local too_late = {}

-- Ends an item if it is too late, and returns whether it was. The caller writes its record.
local function expire_if_late(id, record, value, now_ms)
  local is_late = record and record.latest > 0 and record.latest < now_ms
  if is_late then
    too_late[#too_late + 1] = string.format('%.0f ', record.due) .. value
    record.state = 'x'
    note_event('expired', id, events_kept and parsed(redis.call('HGET', keys.deliveries, id)), value)
    unlearn(id)
    forget_place(id)
  end
  return is_late
end

-- Keeps their values. Returns how many they are.
local function keep_late()
  if #too_late > 0 then
    in_parts(too_late, function(...) redis.call('RPUSH', keys.expired, ...) end)
    redis.call('LTRIM', keys.expired, -1000, -1)
    -- HINCRBY would fail on a text that is not a number, after the values were written.
    local before = tonumber(redis.call('HGET', keys.settings, 'expired') or 0) or 0
    redis.call('HSET', keys.settings, 'expired', string.format('%.0f', before + #too_late))
  end
  return #too_late
end
