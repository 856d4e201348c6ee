-- Says how many values a bounded queue may hold, unless that was said before.
-- Answers to: RBoundedBlockingQueue.trySetCapacity(int), since 3.5
-- KEYS: capacity, capacity_channel, settings, ready, arrivals, timeout
-- ARGV: how many
-- RETURN: 1 if it was set, else 0
-- COST: O(1)
-- INCLUDE: announce
local function length(command, key)
  return tonumber(redis.pcall(command, key)) or 0
end

local room = redis.call('GET', keys.capacity)
if room then
  local known = redis.pcall('HGET', keys.settings, 'capacity')
  if type(known) == 'string' and known ~= ARGV[1] then
    -- Which of the two it has is unknown: it may have been deleted, and set again, by Java.
    redis.pcall('HDEL', keys.settings, 'capacity')
  elseif not known and length('ZCARD', keys.timeout) == 0
    and (tonumber(room) or -1) + length('LLEN', keys.ready) + length('LLEN', keys.arrivals) == tonumber(ARGV[1]) then
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
