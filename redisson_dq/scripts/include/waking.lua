-- Tells every client when a lease ends.
-- KEYS: timeout, channel, alarm
-- INCLUDE: alarm, announce, whole
--
-- A message for every value that is received would wake every process for each.

-- Redisson forgets the time of a message that comes while the reply to its transfer is on the way. It arms its timer by
-- that reply, which was made before there was the lease. A time in the past makes it transfer at once, and the reply to
-- that knows of the lease. Clients of ours pass over a time below 0.
local LOOK_AGAIN = -1

local function wake(deadline, now_ms)
  local alarm = known_alarm(now_ms)
  if alarm and alarm <= deadline then
    return
  end
  -- What waits before it was announced.
  if tonumber(redis.call('ZRANGE', keys.timeout, 0, 0, 'WITHSCORES')[2]) == deadline then
    announce(keys.channel, whole(deadline))
    redis.pcall('PUBLISH', keys.channel, LOOK_AGAIN)
    -- For a second only, as a client that comes later may not have been told.
    note_alarm(deadline, now_ms)
    redis.pcall('PEXPIRE', keys.alarm, math.max(1, deadline - now_ms))
  end
end
