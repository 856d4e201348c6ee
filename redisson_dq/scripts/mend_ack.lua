-- Ends leases of any holder for good: their values are done.
-- KEYS: ready, arrivals, timeout, envelopes, leases, deliveries, histories, history_ends, capacity, capacity_channel, lines, turns, handled, records, forget, returned, settings, events
-- ARGV: nonce, the ids; last the process that calls
-- RETURN: the server's time in epoch us; "done", "gone" (its lease has ended) or "newer" (it has a record in a newer form) of each
-- COST: O(n log m), n leases, m waiting
-- INCLUDE: clock, act_once, once, endings, delivery_record, forms, settle, lines, need, first_write, room, announce, check_types
local now_us, now_ms = server_time()
local who = table.remove(ARGV)
local ids = {unpack(ARGV, 2)}
check_types({}, {keys.timeout, keys.leases, keys.forget, keys.returned}, {keys.deliveries, keys.records})
need(WRITES_NOTES, SETTLING, ENDING, FOLLOWING, {'GET', 'INCRBY'})
local lined = redis.call('EXISTS', keys.turns) == 1
if lined then
  check_lines()
  need(LINING)
end
change_nothing(function() redis.call('ZREMRANGEBYRANK', keys.timeout, 1, 0) end)
local outcomes = act_once(ARGV[1], #ids, now_ms, who, function(outcomes)
  local known = {}
  for i, id in ipairs(ids) do
    if newer_form('deliveries', redis.call('HGET', keys.deliveries, id)) then
      outcomes[i] = 'newer'
    else
      known[#known + 1] = id
    end
  end
  local found, members, done = outcomes_of(known, now_ms)
  local at = 0
  for i = 1, #ids do
    if not outcomes[i] then
      at = at + 1
      outcomes[i] = found[at] == 'acked' and 'done' or 'gone'
    end
  end
  local records = {}
  for i, id in ipairs(done) do
    records[i] = parsed(redis.call('HGET', keys.deliveries, id)) or false
  end
  finish(members, done)
  settle_all(records, done, now_ms)
  if lined then
    all_leave(records, done, now_us, now_ms)
  end
  -- The queue may be a bounded one.
  make_room(#done)
end)
return reply_with({now_us, outcomes})
