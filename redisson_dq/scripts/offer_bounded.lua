-- Adds values to a bounded queue, all of them or none, when there is room.
-- Answers to: RBoundedBlockingQueue.offer(e), addAll(Collection), since 3.5
-- KEYS: capacity, ready
-- ARGV: the values
-- RETURN: 1 if added, 0 if there is no room, -1 if the capacity was never set
-- COST: O(n), n values
-- INCLUDE: parts, need
local room = redis.call('GET', keys.capacity)
if not room then
  return -1
elseif tonumber(room) < #ARGV then
  return 0
end
redis.call('LLEN', keys.ready)
need({'RPUSH'})
redis.call('DECRBY', keys.capacity, #ARGV)
in_parts('RPUSH', keys.ready, ARGV)
return 1
