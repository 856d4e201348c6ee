-- Puts values into the delayed queue, all of them or none, and remembers of each in which context it was offered.
-- KEYS: timeout, envelopes, channel, settings, alarm, leases, deliveries, histories, history_ends, ready, arrivals, records, quarantine, events
-- ARGV: envelope ("current", "legacy" or "lean"), a context (JSON), delays (doubles of seconds, little endian, in one string), then a value for each; last the process that calls
-- RETURN: how many were added (0: the queue is full), id and due of the first, the server's time in epoch us
-- COST: O(n log m), n values offered, m waiting
-- INCLUDE: clock, add, add_many, limit, need, announce, delivery_record, digest, leave, forget_histories, events, check_types
local now_us, now_ms = server_time()
local who = table.remove(ARGV)
check_types({keys.envelopes}, {keys.histories, keys.history_ends}, {keys.deliveries})
local nothing_ready = redis.call('LLEN', keys.ready) + redis.call('LLEN', keys.arrivals) == 0
if not has_room(#ARGV - 3, now_ms, who) then
  return reply_with({0, '', 0, now_us})
end
need(rights_to_add(ARGV[1]), {
  'HDEL', 'HSET', 'PEXPIRE', 'PTTL', 'ZADD', 'ZCOUNT', 'ZRANGE', 'ZRANGEBYSCORE', 'ZREM', 'ZSCORE',
})
local added, dues = add_many(ARGV[1], ARGV[3], 4, now_us)
for i, member in ipairs(added) do
  local d = unknown(digest_of(ARGV[i + 3]))
  d.offered, d.due, d.context = now_ms, dues[i], ARGV[2]
  leave(id_in(ARGV[1], member), d, dues[i], now_ms)
  note_event('offered', id_in(ARGV[1], member), d, nil, dues[i])
end
-- Where Java takes the values, no receive drops their records. So as many old records are dropped as new ones may come.
forget_histories(now_ms, nothing_ready, #added + FEW_HISTORIES)
return reply_with({#added, id_in(ARGV[1], added[1]), dues[1], now_us})
