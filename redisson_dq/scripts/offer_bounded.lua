-- Adds values to a bounded queue, all of them or none, when there is room.
-- Answers to: RBoundedBlockingQueue.offer(e), addAll(Collection), since 3.5
-- KEYS: capacity, ready, arrivals, timeout, capacity_channel, settings
-- ARGV: the values
-- RETURN: 1 if added, 0 if there is no room, -1 if the capacity was never set
-- COST: O(n), n values
-- INCLUDE: clock, capacity, change_room, parts, need, announce, first_write
local said = redis.call('GET', keys.capacity)
if not said then
  change_nothing(function() redis.call('GETEX', keys.capacity) end)
  redis.pcall('HDEL', keys.settings, 'capacity', 'short')
  return reply_with(-1)
end
redis.call('LLEN', keys.ready)
need({'RPUSH'})
local room = room_in(said)
if not room or room < #ARGV then
  local _, now_ms = server_time()
  room = missing_room_made(room, now_ms)
end
if not room then
  return redis.error_reply('NOCAPACITY the key ' .. keys.capacity .. ' holds no number, and nothing was done')
elseif room < #ARGV then
  return reply_with(0)
end
redis.call('DECRBY', keys.capacity, #ARGV)
in_parts(ARGV, function(...) redis.call('RPUSH', keys.ready, ...) end)
return reply_with(1)
