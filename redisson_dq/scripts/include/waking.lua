-- Tells every client when a lease ends.
-- KEYS: timeout, channel, alarm
-- INCLUDE: announce, whole
--
--   alarm   a time that everybody was told less than a second ago
--
-- A message for every value that is received would wake every process for each. Whoever knows of the alarm looks at
-- that time, and learns there when the next lease ends. A transfer tells of the alarm too, so that a client which has
-- just come knows of it.
local SECOND = 1000
-- Redisson forgets the time of a message that comes while the reply to its transfer is on the way. It arms its timer by
-- that reply, which was made before there was the lease. A time in the past makes it transfer at once, and the reply to
-- that knows of the lease. Clients of ours pass over a time below 0.
local LOOK_AGAIN = -1

local function wake(deadline, now_ms)
  local alarm = redis.pcall('GET', keys.alarm)
  alarm = type(alarm) == 'string' and tonumber(alarm)
  if alarm and alarm > now_ms and alarm <= deadline then
    return
  end
  -- What waits before it was announced.
  if tonumber(redis.call('ZRANGE', keys.timeout, 0, 0, 'WITHSCORES')[2]) == deadline then
    local moment = whole(deadline)
    announce(keys.channel, moment)
    redis.pcall('PUBLISH', keys.channel, LOOK_AGAIN)
    redis.pcall('SET', keys.alarm, moment, 'PX', math.max(1, math.min(SECOND, deadline - now_ms)))
  end
end
