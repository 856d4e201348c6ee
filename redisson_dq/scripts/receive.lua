-- Takes values from the ready list and leases them, each until the same deadline.
-- Answers to: nothing in RBlockingQueue; RReliableQueue.pollMany(args) is alike
-- KEYS: ready, arrivals, timeout, channel, leases, deliveries, histories, history_ends, alarm, dead, dead_info, dead_index, capacity, capacity_channel, turns, records, forget, quarantine, settings, events
-- ARGV: envelope ("current" or "legacy"), what the ids of this call begin with, how many at most, for how many us, after how many deliveries a value is a dead letter (0: never), "bounded" or "", the process that calls
-- RETURN: the server's time in epoch us; how many became dead letters; of each lease its id, its deadline, its record and its value; how many values are left
-- COST: O(n log m), n received, m waiting
-- INCLUDE: clock, popping, grant, announce, need, int, first_write, begin_events, events
local envelope, nonce = ARGV[1], ARGV[2]
local count, visible_us, limit = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local now_us, now_ms = server_time()
local deadline = due_of(visible_us, now_us)

-- Fails on a wrong type before anything is written.
count_ready()
redis.call('ZCARD', keys.timeout)
-- This call may have run before.
local again = redis.call('HEXISTS', keys.deliveries, nonce .. '\0\0') == 1
-- Most queues have no values that were delivered before.
local known = begin_events(keys.histories, now_ms, ARGV[7])
known = redis.call('ZCOUNT', keys.leases, '-inf', int(now_ms)) > 0 or known
need(RECEIVING, GRANTING)

if not again and not known then
  receive(count, function(value, digest)
    grant_new(envelope, new_id(nonce), value, digest, deadline, now_ms)
  end, deadline, now_ms)
  if popped == 0 then
    change_nothing(function() redis.call('ZREMRANGEBYRANK', keys.timeout, 1, 0) end)
  end
  return reply_with({now_us, 0, granted, arrived + ready - popped})
end

-- INCLUDE: reap, lapse, history, forget_histories, regrant, dead, room, named, settle, check_types
-- The call was sent again, as its reply was lost: it gives the same leases.
if again and granted_before(nonce, now_ms) then
  return reply_with({now_us, 0, granted, arrived + ready})
end
local bounded, buried, dropped = ARGV[6] == 'bounded', 0, 0
if known then
  check_types(
    {keys.dead}, {keys.histories, keys.history_ends, keys.dead_index, keys.forget},
    {keys.dead_info, keys.turns, keys.records})
  need(LAPSING, RECALLING, BURYING, FOLLOWING)
  if bounded then
    need({'GET', 'INCRBY'})
  end
  reap(now_ms, count + 20)
end
receive(count, function(value, digest)
  local d = known and history_of(value, digest)
  if was_cancelled(d) then
    settle(d, '', now_ms)
    note_event('dropped', '', d)
    dropped = dropped + 1
  elseif d and limit > 0 and d.attempt >= limit then
    to_dead(letter_id(nonce), value, d, '', now_ms)
    buried = buried + 1
  else
    grant(envelope, next_id(nonce, known), value, digest, d, deadline, now_ms)
  end
end, deadline, now_ms)
if known then
  forget_histories(now_ms, popped == 0, FEW_HISTORIES)
end
if bounded then
  make_room(buried + dropped)
end
return reply_with({now_us, buried, granted, arrived + ready - popped})
