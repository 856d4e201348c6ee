-- Puts values into the delayed queue, all of them or none, and announces a new head.
-- Answers to: nothing in RDelayedQueue
-- KEYS: timeout, envelopes, channel, settings, alarm, leases
-- ARGV: envelope ("current", "legacy" or "lean"), delays (doubles of seconds, little endian, in one string), then a value for each
-- RETURN: how many were added (0: the queue is full), id and due of the first, the server's time in epoch us
-- COST: O(n log m), n values offered, m waiting
-- INCLUDE: clock, add, add_many, limit, need, announce
local now_us = server_time()
-- Fails on a wrong type before anything is written.
redis.call('LLEN', keys.envelopes)
if not has_room(#ARGV - 2) then
  return reply_with({0, '', 0, now_us})
end
need(rights_to_add(ARGV[1]))
local added, dues = add_many(ARGV[1], ARGV[2], 3, now_us)
return reply_with({#added, id_in(ARGV[1], added[1]), dues[1], now_us})
