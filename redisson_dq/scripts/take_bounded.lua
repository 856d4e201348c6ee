-- Takes values out of a bounded queue and makes room for as many.
-- Answers to: RBoundedBlockingQueue.poll(), poll(int), remove(Object), drainTo(Collection, int), clear(), since 3.5
-- KEYS: ready, capacity, capacity_channel
-- ARGV: "poll" and how many at most; "remove" and values; "retain" and values; "trim", first and last index; "clear"
-- RETURN: the values that were polled, else how many were taken out
-- COST: O(n), n taken; O(n k) to remove k values out of n
local how, size = ARGV[1], redis.call('LLEN', keys.ready)
-- Fails on a wrong type before anything is written.
if redis.call('GET', keys.capacity) then
  redis.call('INCRBY', keys.capacity, 0)
end
local polled
if how == 'poll' then
  polled = redis.call('LPOP', keys.ready, ARGV[2]) or {}
elseif how == 'remove' then
  for i = 2, #ARGV do
    redis.call('LREM', keys.ready, 0, ARGV[i])
  end
elseif how == 'retain' then
  local kept = {}
  for i = 2, #ARGV do
    kept[ARGV[i]] = true
  end
  for _ = 1, size do
    local value = redis.call('LPOP', keys.ready)
    if kept[value] then
      redis.call('RPUSH', keys.ready, value)
    end
  end
elseif how == 'trim' then
  redis.call('LTRIM', keys.ready, ARGV[2], ARGV[3])
else
  redis.call('DEL', keys.ready)
end
local taken = size - redis.call('LLEN', keys.ready)
if taken > 0 then
  redis.call('PUBLISH', keys.capacity_channel, redis.call('INCRBY', keys.capacity, taken))
end
return polled or taken
