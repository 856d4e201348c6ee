-- Remembers a time that every client looks at.
-- INCLUDE: int
--
--   alarm   at -> the time, known -> until when all clients are taken to know of it; both in epoch ms
--
-- A client that looks at that time learns when the next lease ends. So a lease that ends later needs no message.

-- The time, unless it has passed or some clients may not know of it; and when an overdue head was announced (head.lua).
local function known_alarm(now_ms)
  local alarm = redis.pcall('HMGET', keys.alarm, 'at', 'known', 'told')
  local at, known = tonumber(alarm[1]), tonumber(alarm[2])
  return at and known and at > now_ms and known > now_ms and at or nil, alarm[3]
end

-- Notes the time. For a second all clients are taken to know of it.
local function note_alarm(at, now_ms)
  redis.pcall('HSET', keys.alarm, 'at', int(at), 'known', int(now_ms + 1000))
end
