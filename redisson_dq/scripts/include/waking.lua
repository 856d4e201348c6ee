-- Announces to every client when a lease ends.
-- INCLUDE: alarm, announce, head, look_again, int
--
-- A message for every value that is received would wake every process for each.

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
