-- Writes and drops records.
-- INCLUDE: keep_alive
-- The time that reading, writing, finding, sweeping and dropping records takes.
local RECORDING = {
  'HDEL', 'HGET', 'HSET', 'PEXPIRE', 'PTTL', 'ZADD', 'ZCOUNT', 'ZRANGE', 'ZRANGEBYSCORE', 'ZREM', 'ZSCORE',
}

-- Both keys stay until the last time that matters (keep_alive.lua).
local function live_until(at, now_ms)
  keep_alive(at + 7 * DAY_MS, now_ms, {keys.records, keys.forget})
end

-- Returns the time, for live_until.
local function forget_at(id, at)
  -- Another writer's score may be no whole number, or infinite, and PEXPIRE takes neither.
  at = math.min(math.ceil(at), 2 ^ 53)
  redis.call('ZADD', keys.forget, at, id)
  return at
end

-- The key is no argument of string.format, which would end it at its first NUL.
local function write(id, record)
  redis.call('HSET', keys.records, 'e' .. id, string.format(
    '%s %.0f %.0f %.0f ', record.state, record.due, record.latest, record.duplicate) .. record.key)
end

local function remember(id, record, remember_ms, now_ms)
  write(id, record)
  if record.key ~= '' then
    redis.call('HSET', keys.records, record.key, id)
  end
  local last = math.max(record.due, record.latest, record.duplicate, now_ms)
  live_until(forget_at(id, last + remember_ms), now_ms)
end

local function drop(id, record)
  redis.call('HDEL', keys.records, 'e' .. id, 'p' .. id, 'v' .. id, 'n' .. id)
  if record.key ~= '' and redis.call('HGET', keys.records, record.key) == id then
    redis.call('HDEL', keys.records, record.key)
  end
  redis.call('ZREM', keys.forget, id)
end

-- Notes that an item was taken out, so that it is not reported later as delivered. Returns the time, for live_until.
local function bury(id, record, due, remember_ms, now_ms)
  if record then
    drop(id, record)
  end
  return remember_ms > 0 and forget_at(id, math.max(due, now_ms) + remember_ms) or 0
end
