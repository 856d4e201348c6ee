-- Puts values into the delayed queue, all of them or none, and announces a new head.
-- Answers to: RDelayedQueue.offer(e, delay, unit), since 3.10
-- KEYS: timeout, envelopes, channel, settings, alarm, leases
-- ARGV: envelope ("current", "legacy" or "lean"), then per value: due ("250000" us from now, "@1700000000000" epoch ms), value
-- RETURN: how many were added (0: the queue is full), id and due of the first, the server's time in epoch us
-- COST: O(n log m), n values offered, m waiting
-- INCLUDE: clock, add, add_many, need, announce
local now_us = server_time()
-- Fails on a wrong type before anything is written.
redis.call('LLEN', keys.envelopes)
if not has_room((#ARGV - 1) / 2) then
  return reply_with({0, '', 0, now_us})
end
need(rights_to_add(ARGV[1]))
local dues, values = offered_from(2, now_us)
local added = add_many(ARGV[1], dues, values, now_us)
return reply_with({#values, id_in(ARGV[1], added[1]), dues[1], now_us})
