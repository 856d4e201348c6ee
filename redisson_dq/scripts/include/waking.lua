-- Announces to every client when a lease ends, and makes Redisson's clients look.
-- INCLUDE: alarm, announce, head, int
--
-- A message for every value that is received would wake every process for each.

-- Redisson forgets the time of a message that comes while the reply to its transfer is on the way. It arms its timer by
-- that reply, which was made before. A time in the past makes it transfer at once, and the reply to that has the
-- announced time. The older of two replies may still come last, on a connection of its own: Redisson by itself cannot
-- be relied on. Clients of ours ignore a time below 0.
local function look_again()
  redis.pcall('PUBLISH', keys.channel, -1)
end

local function wake(deadline, now_ms)
  local alarm = known_alarm(now_ms)
  if alarm and alarm <= deadline then
    return
  end
  local head = tonumber(redis.call('ZRANGE', keys.timeout, 0, 0, 'WITHSCORES')[2])
  -- An entry that waits before it was announced.
  if head == deadline then
    announce(keys.channel, int(deadline))
    look_again()
    -- Only for a second, as a client that comes later may not have received it.
    note_alarm(deadline, now_ms)
    redis.pcall('PEXPIRE', keys.alarm, math.max(1, deadline - now_ms))
  else
    tell_overdue(head, now_ms)
    untold = math.min(untold or deadline, deadline)
  end
end
