-- Makes Redisson's clients look when something is due next.

-- Redisson forgets the time of a message that comes while the reply to its transfer is on the way. It arms its timer by
-- that reply, which was made before. A time in the past makes it transfer at once, and the reply to that has the
-- announced time. The older of two replies may still come last, on a connection of its own: Redisson by itself cannot
-- be relied on. Clients of ours ignore a time below 0.
local function look_again()
  redis.pcall('PUBLISH', keys.channel, -1)
end
