-- Sets aside items that were too late to be delivered: the last thousand of them, and how many there were.
-- INCLUDE: parts

local function is_too_late(record, now_ms)
  return record.latest > 0 and record.latest < now_ms
end

local function late_element(record, value)
  return string.format('%.0f ', record.due) .. value
end

local function keep_late(elements)
  in_parts(elements, function(...) redis.call('RPUSH', keys.expired, ...) end)
  redis.call('LTRIM', keys.expired, -1000, -1)
  -- HINCRBY would fail on a text that is not a number, after the values were written.
  local before = tonumber(redis.call('HGET', keys.settings, 'expired') or 0) or 0
  redis.call('HSET', keys.settings, 'expired', string.format('%.0f', before + #elements))
end
