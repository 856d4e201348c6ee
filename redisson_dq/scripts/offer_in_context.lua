-- Puts values into the delayed queue, all of them or none, and remembers of each in which context it was offered.
-- Answers to: nothing in RDelayedQueue
-- KEYS: timeout, envelopes, channel, settings, alarm, leases, deliveries, histories, history_ends, ready, arrivals
-- ARGV: envelope ("current", "legacy" or "lean"), a context (JSON), then per value: due ("250000" us from now, "@1700000000000" epoch ms), value
-- RETURN: how many were added (0: the queue is full), id and due of the first, the server's time in epoch us
-- COST: O(n log m), n values offered, m waiting
-- INCLUDE: clock, add, add_many, need, announce, delivery_record, digest, leave, forget_histories
local now_us, now_ms = server_time()
-- Fails on a wrong type before anything is written.
redis.call('LLEN', keys.envelopes)
local nothing_ready = redis.call('LLEN', keys.ready) + redis.call('LLEN', keys.arrivals) == 0
redis.call('HLEN', keys.deliveries)
redis.call('ZCARD', keys.histories)
redis.call('ZCARD', keys.history_ends)
if not has_room((#ARGV - 2) / 2) then
  return reply_with({0, '', 0, now_us})
end
need(rights_to_add(ARGV[1]), {
  'HDEL', 'HSET', 'PEXPIRE', 'PTTL', 'ZADD', 'ZCOUNT', 'ZRANGE', 'ZRANGEBYSCORE', 'ZREM', 'ZSCORE',
})
local dues, values = offered_from(3, now_us)
local added = add_many(ARGV[1], dues, values, now_us)
for i, value in ipairs(values) do
  local d = unknown(digest_of(value))
  d.offered, d.due, d.context = now_ms, dues[i], ARGV[2]
  leave(id_in(ARGV[1], added[i]), d, dues[i], now_ms)
end
-- Where Java takes the values, no receive drops their records. So as many old records are dropped as new ones may come.
forget_histories(now_ms, nothing_ready, #values + FEW_HISTORIES)
return reply_with({#values, id_in(ARGV[1], added[1]), dues[1], now_us})
