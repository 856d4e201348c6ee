-- Ends leases whose values will never be done: they go to the dead-letter list.
-- Answers to: nothing in RBlockingQueue; RReliableQueue.negativeAcknowledge(args) with a rejection is alike
-- KEYS: ready, timeout, envelopes, leases, deliveries, histories, history_ends, dead, dead_info, dead_index, capacity, capacity_channel, lines, turns, handled, records, forget
-- ARGV: reason, "bounded" or "", the ids
-- RETURN: the server's time in epoch us; "dead", "cancelled" or "lost" of each
-- COST: O(n log m), n leases, m waiting
-- INCLUDE: clock, delivery_record, forms, digest, held, envelope, lines, dead, settle, named, room, announce, need, full_memory
local now_us, now_ms = server_time()
-- Fails on a wrong type before anything is written.
redis.call('ZCARD', keys.timeout)
redis.call('HLEN', keys.deliveries)
redis.call('LLEN', keys.dead)
redis.call('HLEN', keys.dead_info)
redis.call('ZCARD', keys.dead_index)
redis.call('HLEN', keys.records)
redis.call('ZCARD', keys.forget)
need(SETTLING, BURYING, FOLLOWING)
if ARGV[2] == 'bounded' then
  need({'GET', 'INCRBY'})
end
-- Most queues have neither keys nor limits.
local lined = redis.call('EXISTS', keys.turns) == 1
if lined then
  check_lines()
  need(LINING)
end
despite_full_memory('ZREMRANGEBYRANK', keys.timeout, 1, 0)
local outcomes, buried = {}, 0
local ids = {unpack(ARGV, 3)}
local deadlines, met = deadlines_of(ids, now_ms), {}
for i, id in ipairs(ids) do
  local member, value
  if deadlines[i] and not met[id] then
    member, met[id] = held(id, deadlines[i], #ids), true
    value = member and unwrap(member)
  end
  local text = member and redis.call('HGET', keys.deliveries, id)
  if newer_form('deliveries', text) then
    -- It ends by its deadline, and a client that knows its record counts that.
    member = nil
  end
  if member then
    end_lease(id, member)
    local d = parsed(text) or unknown(digest_of(value))
    redis.call('HDEL', keys.deliveries, id)
    if lined then
      forget_unique(id)
      leave_slot(id, now_ms)
      leave_line(d, now_ms)
    end
    outcomes[i] = was_cancelled(d) and 'cancelled' or 'dead'
    if outcomes[i] == 'cancelled' then
      settle(d, id, now_ms)
    else
      to_dead(id, value, d, ARGV[1], now_ms)
    end
    buried = buried + 1
  end
  outcomes[i] = outcomes[i] or 'lost'
end
if ARGV[2] == 'bounded' then
  make_room(buried)
end
return reply_with({now_us, outcomes})
