-- Elects the one of several clients that moves a queue.
-- INCLUDE: alarm, int
--
--   mover   who, when its last call may have ended, when it told the others of the next due time; both in us
--
-- The others are its reserve. Each of its transfers announces the next due time to them, and they wait somewhat longer
-- than that. So they send nothing as long as the mover lives. A client that finds an item overdue becomes the mover.
local MINUTE = 60000
-- When an item is overdue by more than this, and the mover was silent as long, the mover is dead, cut off or stopped.
local GRACE_US = 20000
-- A call notes the time at which it may end, as a long call must not look like silence. No call takes longer than this.
local LONGEST_CALL_US = 100000
-- A message to all for every item would cost them more than the item. So messages are this many us apart while items
-- follow each other closely. The next transfer announces what was left out, before the reserve steps in.
local CLOSE_US, PAUSE_US = 8000, 10000
-- The time that is announced when nothing waits: far enough away.
local DAY_US = 86400000000
local LONGEST_US = 36500 * DAY_US

-- When there is something to do next, an occurrence of a recurring offer among it from a due time on; nil for nothing.
-- The alarm counts too: a lease that ends later is not announced to a client that knows of it. The argument moved: what
-- is due was moved, so an overdue head is another one than was announced (head.lua).
local function next_of(special, from, now_ms, moved)
  local next = redis.call('ZRANGE', keys.timeout, 0, 0, 'WITHSCORES')[2]
  local alarm, told = known_alarm(now_ms)
  if told and moved then
    redis.pcall('HDEL', keys.alarm, 'told')
  end
  if alarm and (not next or alarm < tonumber(next)) then
    next = int(alarm)
  end
  local upcoming = special and redis.call(
    'ZRANGEBYSCORE', keys.recurring_due, from, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)[2]
  if upcoming and (not next or tonumber(upcoming) < tonumber(next)) then
    return upcoming
  end
  return next
end

-- Notes that the caller, which is the only client, knows of the alarm. Each transfer has reported it.
local function know_alarm(now_ms)
  local at = tonumber(redis.pcall('HGET', keys.alarm, 'at'))
  if at and at > now_ms then
    note_alarm(at, now_ms)
  end
end

-- The role of the caller, and when the mover last announced something, in us. For the only client also how many
-- subscribers there are, itself among them.
local function role_of(caller, cluster, head, now_us)
  -- In a cluster a node knows only its own subscribers. A client that may not ask works as the only client, which is
  -- safe.
  local subscribers = cluster and 2 or redis.pcall('PUBSUB', 'NUMSUB', keys.channel)[2] or 0
  -- From two on, Valkey 9.1 may return any number.
  if subscribers == 0 or subscribers == 1 then
    return 'alone', 0, subscribers
  end
  local who, moved_us, announced_us = string.match(redis.call('GET', keys.mover) or '', '^(%S+) (%d+) (%d+)$')
  -- After a step back of the clock, or on another server, a note of a much later time is useless.
  if not who or tonumber(moved_us) > now_us + LONGEST_CALL_US then
    return 'mover', 0
  elseif who == caller then
    return 'mover', tonumber(announced_us)
  end
  local overdue = head and head * 1000 < now_us - GRACE_US
  return overdue and moved_us + 0 < now_us - GRACE_US and 'mover' or 'reserve', tonumber(announced_us)
end

-- Keeps the caller the mover, and announces what comes next, unless that is due already. ends_us: when the call may
-- end.
local function lead(caller, next, now_us, ends_us, announced_us)
  -- Another writer's score may be infinite.
  local left_us = math.min(next and next * 1000 - now_us or DAY_US, LONGEST_US)
  if left_us > 0 and (left_us > CLOSE_US or now_us - announced_us > PAUSE_US) then
    announced_us = now_us
    redis.pcall('PUBLISH', keys.channel, string.format('%.0f', math.ceil((now_us + left_us) / 1000)))
  end
  -- Neither is needed: without the right to PUBLISH, or without memory for the note, the queue goes on.
  redis.pcall('SET', keys.mover, string.format('%s %.0f %.0f', caller, ends_us, announced_us), 'PX', MINUTE)
end
