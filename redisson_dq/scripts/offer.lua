-- Puts a value into the delayed queue, and announces a new head.
-- Answers to: RDelayedQueue.offer(e, delay, unit), since 3.10
-- KEYS: timeout, envelopes, channel, settings, alarm, leases, events
-- ARGV: envelope ("current", "legacy" or "lean"), due ("250000" us from now, "@1700000000000" epoch ms), value, the process that calls
-- RETURN: how many were added (0: the queue is full), its id and due, the server's time in epoch us
-- COST: O(log m), m waiting
-- INCLUDE: clock, add, limit, need, announce, events
local now_us, now_ms = server_time()
-- Fails on a wrong type before anything is written.
redis.call('LLEN', keys.envelopes)
if not has_room(1, now_ms, ARGV[4]) then
  return reply_with({0, '', 0, now_us})
end
need(rights_to_add(ARGV[1]))
local due = due_of(ARGV[2], now_us)
local id = adder(ARGV[1], now_us)(ARGV[3], due)
note_event('offered', id, nil, ARGV[3], due)
return reply_with({1, id, due, now_us})
