-- Takes values out of a bounded queue and makes room for as many.
-- Answers to: RBoundedBlockingQueue.poll(), poll(int), remove(Object), drainTo(Collection, int), clear(), since 3.5
-- KEYS: ready, arrivals, timeout, capacity, capacity_channel, settings
-- ARGV: "poll" and how many at most; "remove" and values; "retain" and values; "trim", first and last index; "clear"
-- RETURN: the values that were polled, else how many were taken out
-- COST: O(k), k taken by poll, trim or clear; O(n), n ready, to retain; O(n k) to remove k values
-- INCLUDE: values, need, full_memory, announce, capacity
local how, size = ARGV[1], redis.call('LLEN', keys.ready)
need({'INCRBY', 'LLEN'}, how == 'retain' and {'RPUSH'} or {})
despite_full_memory('GETEX', keys.capacity)
-- Fails on a wrong type before anything is written.
redis.call('GET', keys.capacity)
local polled
if how == 'poll' then
  polled = redis.call('LPOP', keys.ready, ARGV[2]) or {}
elseif how == 'remove' then
  remove_values()
elseif how == 'retain' then
  retain_values()
elseif how == 'trim' then
  redis.call('LTRIM', keys.ready, ARGV[2], ARGV[3])
else
  redis.call('DEL', keys.ready)
end
local taken = size - redis.call('LLEN', keys.ready)
if taken > 0 then
  give_room(taken)
end
return reply_with(polled or taken)
