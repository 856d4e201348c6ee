-- Makes room in a bounded queue for values that a blocking command took, once for each nonce.
-- Answers to: the release after RBoundedBlockingQueue.take() and poll(timeout, unit), since 3.5
-- KEYS: ready, arrivals, timeout, capacity, capacity_channel, settings, returned
-- ARGV: nonce, the nonce of a call whose reply came or '', how many
-- RETURN: 1, or 0 if the room was made before
-- COST: O(1)
-- INCLUDE: clock, need, once, first_write, announce, capacity
local _, now_ms = server_time()
-- Fails on a wrong type before anything is written.
redis.call('GET', keys.capacity)
redis.call('ZCARD', keys.returned)
need(WRITES_NOTES, {'INCRBY'})
change_nothing(function() redis.call('GETEX', keys.capacity) end)
if was_done(ARGV[1], ARGV[2], now_ms) then
  return reply_with(0)
end
give_room(tonumber(ARGV[3]))
return reply_with(1)
