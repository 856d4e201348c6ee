-- Ends leases for good: their values are done.
-- Answers to: nothing in RBlockingQueue; RReliableQueue.acknowledge(args) is alike
-- KEYS: ready, arrivals, timeout, envelopes, leases, deliveries, histories, history_ends, capacity, capacity_channel, lines, turns, handled, records, forget, settings, events
-- ARGV: "bounded" or "", the ids; last the process that calls
-- RETURN: the server's time in epoch us; "acked" or "lost" of each
-- COST: O(n log m), n leases, m waiting
-- INCLUDE: clock, endings, room, announce, need, delivery_record, settle, begin_events, events
local now_us, now_ms = server_time()
local who = table.remove(ARGV)
local ids = {unpack(ARGV, 2)}
-- Fails on a wrong type before anything is written.
redis.call('HLEN', keys.deliveries)
need(ENDING)
-- Most queues have neither keys nor limits.
local lined = begin_events(keys.turns, now_ms, who)
if ARGV[1] == 'bounded' then
  need({'GET', 'INCRBY'})
end
-- Nor have most values names.
local named = redis.call('EXISTS', keys.records) == 1
if named then
  redis.call('ZCARD', keys.forget)
  redis.call('HLEN', keys.records)
  need(FOLLOWING)
end
local outcomes, members, done = outcomes_of(ids, now_ms)
local records = {}
for i, id in ipairs((lined or named or events_kept) and done or {}) do
  records[i] = parsed(redis.call('HGET', keys.deliveries, id)) or false
end

local function end_leases()
  finish(members, done)
  settle_all(records, done, now_ms)
  if ARGV[1] == 'bounded' then
    make_room(#done)
  end
end
if not lined then
  end_leases()
  return reply_with({now_us, outcomes})
end

-- INCLUDE: lines
check_lines()
need(LINING)
end_leases()
all_leave(records, done, now_us, now_ms)
return reply_with({now_us, outcomes})
