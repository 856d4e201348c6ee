-- Ends leases whose values were not done: they are ready again at once, or wait for another time.
-- Answers to: nothing in RBlockingQueue; RReliableQueue.negativeAcknowledge(args) is alike
-- KEYS: ready, arrivals, timeout, envelopes, channel, leases, deliveries, histories, history_ends, alarm, dead, dead_info, dead_index, capacity, capacity_channel, lines, turns, handled, records, forget, returned, settings, events
-- ARGV: envelope ("lean" or "legacy"), delay in us (0: at once), "counted", "crashed" or "", reason, after how many deliveries a value is a dead letter (0: never), "bounded" or "", a nonce with which it is done once however often it is sent or "", the ids; last the process that calls
-- RETURN: the server's time in epoch us; "returned", "delayed", "dead", "cancelled" or "lost" of each, and "done" where it was done before
-- COST: O(n log m), n leases, m waiting
-- INCLUDE: clock, add, leave, turn, lines, dead, settle, named, room, parts, announce, waking, unfinished, act_once, events, check_types
local envelope, delay_us, reason = ARGV[1], tonumber(ARGV[2]), ARGV[4]
-- The death of a receiver is not a failure of the handler.
local counted, crashed = ARGV[3] == 'counted', ARGV[3] == 'crashed'
local limit = tonumber(ARGV[5])
local now_us, now_ms = server_time()
local who = table.remove(ARGV)
local nonce = ARGV[7]
check_types(
  {keys.ready, keys.envelopes},
  {keys.leases, keys.histories, keys.history_ends, nonce ~= '' and keys.returned or nil})
local lined = begin_endings(
  ARGV[6], now_ms, who, rights_to_add(envelope), {'LPUSH', 'PEXPIRE', 'PTTL'}, nonce ~= '' and WRITES_NOTES or {}
)
local ids = {unpack(ARGV, 8)}
local before = nonce ~= '' and told_before(nonce, #ids, now_ms)
if before then
  return reply_with({now_us, before})
end
local add = adder(envelope, now_us)
local outcomes, back, buried, next_due = {}, {}, 0, nil
for i, id, value, d in each_ended(ids, lined, now_ms) do
  if counted then
    d.failures = d.failures + 1
  elseif crashed then
    d.crashes = d.crashes + 1
  else
    d.attempt = math.max(0, d.attempt - 1)
    if d.attempt == 0 then
      d.first = 0
    end
  end
  if reason ~= '' then
    d.reason = reason
  end
  -- A value that was handed back untouched is as if it had never been received. It keeps its place before others (admit.lua).
  d.turn = d.turn or lined and not counted and not crashed and '' or nil
  local remembered = counted or crashed or d.attempt > 0 or d.offered > 0 or d.due > 0 or d.context ~= '' or d.reason ~= ''
    or d.turn
  local due = again_at(d, id, now_ms) or delay_us > 0 and due_of(delay_us, now_us) or 0
  note_event(counted and 'failed' or crashed and 'lost' or 'returned', '', d, nil, due > 0 and due or nil, id, reason)
  local outcome
  if was_cancelled(d) then
    leave_line(d, now_ms)
    settle(d, id, now_ms)
    note_event('dropped', '', d)
    buried, outcome = buried + 1, 'cancelled'
  elseif counted and limit > 0 and d.attempt >= limit then
    leave_line(d, now_ms)
    to_dead(id, value, d, '', now_ms)
    buried, outcome = buried + 1, 'dead'
  elseif due > 0 then
    local entry = add(value, due)
    next_due = due
    if remembered then
      leave(entry, d, due, now_ms)
      follow(d, entry)
      known_by(d, 'l', entry, due, now_ms)
    end
    outcome = 'delayed'
  else
    back[#back + 1] = value
    if remembered then
      leave(id, d, now_ms, now_ms)
    end
    outcome = 'returned'
  end
  outcomes[i] = outcome
end
local left = {}
for i = 1, #ids do
  left[i] = outcomes[i] and 'done' or 'lost'
  outcomes[i] = outcomes[i] or 'lost'
end
if nonce ~= '' then
  remember_left(nonce, left, now_ms)
end
-- Retries follow transfers closely, so Redisson may have missed the message.
if next_due and tonumber(redis.call('ZRANGE', keys.timeout, 0, 0, 'WITHSCORES')[2]) == next_due then
  look_again()
end
if counted or crashed then
  in_parts(back, function(...) redis.call('RPUSH', keys.ready, ...) end)
else
  -- To the head, in the order in which they were received.
  for i = 1, math.floor(#back / 2) do
    back[i], back[#back + 1 - i] = back[#back + 1 - i], back[i]
  end
  in_parts(back, function(...) redis.call('LPUSH', keys.ready, ...) end)
end
if ARGV[6] == 'bounded' then
  make_room(buried)
end
return reply_with({now_us, outcomes})
