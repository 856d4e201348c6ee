-- Says how many values a bounded queue may hold, unless that was said before.
-- Answers to: RBoundedBlockingQueue.trySetCapacity(int), since 3.5
-- KEYS: capacity, capacity_channel, settings, ready, arrivals, timeout
-- ARGV: how many
-- RETURN: 1 if it was set, else 0
-- COST: O(1)
-- INCLUDE: announce
local room = redis.call('GET', keys.capacity)
if room then
  local leased = redis.pcall('ZCARD', keys.timeout)
  local held = (tonumber(redis.pcall('LLEN', keys.ready)) or 0) + (tonumber(redis.pcall('LLEN', keys.arrivals)) or 0)
  local known = redis.pcall('HGET', keys.settings, 'capacity')
  if type(known) == 'string' and known ~= ARGV[1] then
    -- Which of the two it has is unknown: it may have been deleted, and set again, by Java.
    redis.pcall('HDEL', keys.settings, 'capacity')
  elseif not known and (tonumber(leased) or 0) == 0 and (tonumber(room) or -1) + held == tonumber(ARGV[1]) then
    -- Java has set it, the caller names the same number, and no room is missing.
    redis.pcall('HSET', keys.settings, 'capacity', ARGV[1])
  end
  return reply_with(0)
end
redis.call('SET', keys.capacity, ARGV[1])
-- By this the room is worked out where a take could not make it (include/capacity.lua).
redis.pcall('HSET', keys.settings, 'capacity', ARGV[1])
redis.pcall('HDEL', keys.settings, 'short')
announce(keys.capacity_channel, ARGV[1])
return reply_with(1)
