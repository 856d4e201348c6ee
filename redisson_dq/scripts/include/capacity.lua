-- Compares the room of a bounded queue with its content.
-- INCLUDE: announce, change_room
--
--   capacity   how many more values it may hold, as Redisson counts
--   settings   'capacity'   how many it holds in all, where one of ours said so
--              'short'      since when room has been missing, in epoch ms, and how much at least
--
-- A take makes room by a second command. Where its client dies between the two, or loses the reply to the first, that room
-- is never made. So room that is missing for some time, longer than any take takes, is made by an offer that finds none.
local MISSING_MS = 10000

local function known_capacity()
  local capacity = room_in(redis.pcall('HGET', keys.settings, 'capacity'))
  return capacity and capacity >= 0 and capacity or nil
end

-- How many values are ready or on their way to a receiver.
local function count_there()
  local ready, arrived = redis.pcall('LLEN', keys.ready), redis.pcall('LLEN', keys.arrivals)
  return (tonumber(ready) or 0) + (tonumber(arrived) or 0)
end

-- Makes room for values that have left, and no more than there is.
local function give_room(count)
  local capacity, room = known_capacity(), change_room(count)
  if capacity and not room and redis.call('EXISTS', keys.capacity) == 0 then
    -- The next capacity may be another one.
    redis.pcall('HDEL', keys.settings, 'capacity', 'short')
  end
  local more = room and capacity and room + count_there() - capacity or 0
  if more > 0 then
    room = change_room(-math.min(count, more))
  end
  if room then
    announce(keys.capacity_channel, room)
  end
end

-- Makes the room that is missing, as an offer finds too little. room: nil where the key holds no number. Returns the
-- room.
local function missing_room_made(room, now_ms)
  local capacity = known_capacity()
  if not capacity then
    return room
  end
  -- A received value, or one that waits for a retry, has its place. An item that waits for its first time has none. It is
  -- counted all the same, so no room is made that is not there.
  local present = count_there() + redis.call('ZCARD', keys.timeout)
  local missing = capacity - present - (room or 0)
  local since, least = string.match(redis.pcall('HGET', keys.settings, 'short') or '', '^(%d+) (%d+)$')
  if room and missing <= 0 then
    if since then
      redis.pcall('HDEL', keys.settings, 'short')
    end
    return room
  end
  since, least = tonumber(since or now_ms), math.min(tonumber(least or missing), missing)
  if room and (since > now_ms or now_ms - since < MISSING_MS) then
    redis.pcall('HSET', keys.settings, 'short', string.format('%.0f %.0f', math.min(since, now_ms), least))
    return room
  end
  local made = string.format('%.0f', room and room + least or math.max(0, missing))
  if redis.pcall('SET', keys.capacity, made).err then
    return room
  end
  redis.pcall('HDEL', keys.settings, 'short')
  announce(keys.capacity_channel, made)
  return tonumber(made)
end
