-- Ends leases whose values will never be done: they go to the dead-letter list.
-- Answers to: nothing in RBlockingQueue; RReliableQueue.negativeAcknowledge(args) with a rejection is alike
-- KEYS: ready, arrivals, timeout, envelopes, leases, deliveries, histories, history_ends, dead, dead_info, dead_index, capacity, capacity_channel, lines, turns, handled, records, forget, settings, events
-- ARGV: reason, "bounded" or "", the ids; last the process that calls
-- RETURN: the server's time in epoch us; "dead", "cancelled" or "lost" of each
-- COST: O(n log m), n leases, m waiting
-- INCLUDE: clock, lines, dead, settle, room, announce, unfinished, events
local now_us, now_ms = server_time()
local who = table.remove(ARGV)
local lined = begin_endings(ARGV[2], now_ms, who)
local outcomes, buried = {}, 0
local ids = {unpack(ARGV, 3)}
for i, id, value, d in each_ended(ids, lined, now_ms) do
  if lined then
    leave_line(d, now_ms)
  end
  outcomes[i] = was_cancelled(d) and 'cancelled' or 'dead'
  if outcomes[i] == 'cancelled' then
    settle(d, id, now_ms)
    note_event('dropped', '', d)
  else
    to_dead(id, value, d, ARGV[1], now_ms)
  end
  buried = buried + 1
end
for i = 1, #ids do
  outcomes[i] = outcomes[i] or 'lost'
end
if ARGV[2] == 'bounded' then
  make_room(buried)
end
return reply_with({now_us, outcomes})
