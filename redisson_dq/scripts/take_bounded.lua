-- Takes values out of a bounded queue and makes room for as many. Items with an id that go undelivered are forgotten.
-- Answers to: RBoundedBlockingQueue.poll(), poll(int), remove(Object), drainTo(Collection, int), clear(), since 3.5
-- KEYS: ready, arrivals, timeout, capacity, capacity_channel, settings, records, forget, leases, deliveries, histories, history_ends, events
-- ARGV: "poll", "all", "others", "trim" or "clear"; for how many ms outcomes are remembered; how many to poll at most, or the values, or the first and the last index; last the process that calls
-- RETURN: the values that were polled, else how many were taken out
-- COST: O(k), k taken by poll, trim or clear; O(n), n ready, to take the others; O(n k) to take k values
-- INCLUDE: need, first_write, announce, capacity, events
local who = table.remove(ARGV)
local how, size = ARGV[1], redis.call('LLEN', keys.ready)
need({'INCRBY', 'LLEN'}, how == 'others' and {'RPUSH'} or {})
change_nothing(function() redis.call('GETEX', keys.capacity) end)
-- Fails on a wrong type before anything is written.
redis.call('GET', keys.capacity)
if how == 'poll' then
  local polled = redis.call('LPOP', keys.ready, ARGV[3]) or {}
  if #polled > 0 then
    give_room(#polled)
  end
  return reply_with(polled)
end

-- INCLUDE: clock, take_away
local remember_ms = tonumber(ARGV[2])
local _, now_ms = server_time()
keep_events(now_ms, who)
if how == 'clear' then
  local named = begin_taking_away(true)
  redis.call('DEL', keys.ready)
  note_event('cleared', '', nil, nil, nil, nil, 'ready')
  if named then
    all_taken_away(remember_ms, now_ms)
  end
else
  take_values_away(how, remember_ms, now_ms)
end
local taken = size - redis.call('LLEN', keys.ready)
if taken > 0 then
  give_room(taken)
end
return reply_with(taken)
