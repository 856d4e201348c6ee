-- What is remembered of single items beyond their entries. Needs find.lua, keys.records (hash), keys.forget (zset).
--
--   records  'e' .. entry id             state, due, latest (0: none), duplicate until (0: by state), key or nothing
--            'i' .. id of the caller's   entry id
--            'h' .. hash of a payload    entry id
--   forget   entry id -> when its record is dropped; without a record: the item was cancelled
--
-- States: w was put in (whether it waits is for the zset to say), d was polled, x was too late. Most items have
-- no record. One that Redisson moves leaves its record until a script of ours comes by, or until both keys expire.
local WEEK = 604800000

local function record_of(id)
  local text = redis.call('HGET', keys.records, 'e' .. id)
  if not text then
    return nil
  end
  local state, due, latest, duplicate, key = string.match(text, '^(%l) (%d+) (%d+) (%d+) (.*)$')
  if not state then
    -- Not one of ours: it must hold up neither delivery nor a call.
    return nil
  end
  return {
    state = state, due = tonumber(due), latest = tonumber(latest), duplicate = tonumber(duplicate), key = key,
  }
end

-- Both keys go a week after the last time that matters, should no script of ours run any more.
local function live_until(at, now_ms)
  for _, key in ipairs({keys.records, keys.forget}) do
    if redis.call('PTTL', key) < at - now_ms + WEEK then
      redis.call('PEXPIRE', key, at - now_ms + WEEK)
    end
  end
end

-- Gives the time, for live_until.
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
  redis.call('HDEL', keys.records, 'e' .. id)
  if record.key ~= '' and redis.call('HGET', keys.records, record.key) == id then
    redis.call('HDEL', keys.records, record.key)
  end
  redis.call('ZREM', keys.forget, id)
end

-- Notes that an item was taken out, so that nobody is told later that it was delivered. Gives the time, for live_until.
local function bury(id, record, due, remember_ms, now_ms)
  if record then
    drop(id, record)
  end
  return remember_ms > 0 and forget_at(id, math.max(due, now_ms) + remember_ms) or 0
end

-- Drops a few records whose time is over. One of an overdue item that still waits is looked at again in a minute.
local function sweep(now_ms)
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', keys.forget, '-inf', now_ms, 'LIMIT', 0, 20)) do
    local record = record_of(id)
    if not record then
      redis.call('ZREM', keys.forget, id)
    elseif find(id, record.due) then
      forget_at(id, now_ms + 60000)
    else
      drop(id, record)
    end
  end
end

-- What became of an item that does not wait any more: 'delivered', 'expired', or 'unknown' where nobody can tell.
local function fate(id, record, due, remember_ms, now_ms)
  local forget = tonumber(redis.call('ZSCORE', keys.forget, id) or nil)
  if record then
    -- Its time may be over though no sweep has come to it yet.
    if not forget or forget <= now_ms then
      return 'unknown'
    elseif record.state == 'x' then
      return 'expired'
    elseif record.state == 'd' then
      return 'delivered'
    end
  elseif forget or due + remember_ms < now_ms then
    return 'unknown'
  end
  return due > now_ms and 'unknown' or 'delivered'
end
