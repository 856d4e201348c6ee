-- Puts values into the delayed queue, all of them or none, and announces a new head.
-- KEYS: timeout, envelopes, channel, settings, alarm, leases, events
-- ARGV: envelope ("current", "legacy" or "lean"), delays (doubles of seconds, little endian, in one string), then a value for each; last the process that calls
-- RETURN: how many were added (0: the queue is full), id and due of the first, the server's time in epoch us
-- COST: O(n log m), n values offered, m waiting
-- INCLUDE: clock, add, add_many, limit, need, announce, events
local now_us, now_ms = server_time()
local who = table.remove(ARGV)
-- Fails on a wrong type before anything is written.
redis.call('LLEN', keys.envelopes)
if not has_room(#ARGV - 2, now_ms, who) then
  return reply_with({0, '', 0, now_us})
end
need(rights_to_add(ARGV[1]))
local added, dues = add_many(ARGV[1], ARGV[2], 3, now_us)
for i, member in ipairs(events_kept and added or {}) do
  note_event('offered', id_in(ARGV[1], member), nil, ARGV[i + 2], dues[i])
end
return reply_with({#added, id_in(ARGV[1], added[1]), dues[1], now_us})
