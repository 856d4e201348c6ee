-- Announces to every client when added values are due, so that none waits behind a head that no client knows of.
-- INCLUDE: announce, int
--
--   alarm   told -> when an overdue head was announced, in epoch ms; the next transfer takes it out (mover.lua)
--
-- A head that was put in without a message, by another program or a user without the right to publish, would keep each
-- later value from being announced.

-- Clients that know of a head have moved it OVERDUE ms after its time. It is announced again after AGAIN ms.
local OVERDUE, AGAIN = 20, 1000

-- Announces a head that is overdue.
local function tell_overdue(due, now_ms)
  if due >= now_ms - OVERDUE then
    return
  end
  local told = tonumber(redis.pcall('HGET', keys.alarm, 'told'))
  if told and told <= now_ms and now_ms < told + AGAIN then
    return
  end
  redis.pcall('HSET', keys.alarm, 'told', int(now_ms))
  if redis.pcall('PTTL', keys.alarm) == -1 then
    redis.pcall('PEXPIRE', keys.alarm, AGAIN)
  end
  announce(keys.channel, int(math.max(0, due)))
end

-- Announces values that were put in, the first of them due at a time, where one of them is the head. member: the head, if
-- it is one of them.
local function tell_added(member, due, now_ms)
  due = math.max(0, math.min(due, 2 ^ 53))
  local head = redis.call('ZRANGE', keys.timeout, 0, 0, 'WITHSCORES')
  if head[1] == member then
    -- Java's clients, and clients in reserve, wait for the time that was announced last. So they no longer know of the
    -- alarm.
    redis.pcall('HDEL', keys.alarm, 'known')
    announce(keys.channel, int(due))
    if refusal == '' then
      return
    end
  else
    tell_overdue(tonumber(head[2]), now_ms)
  end
  untold = math.min(untold or due, due)
end
