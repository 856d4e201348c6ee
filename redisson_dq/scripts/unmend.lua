-- Takes a call of mend.lua back: puts cancelled entries in again, or gives entries their earlier due times.
-- KEYS: timeout, envelopes, channel, records, forget, alarm, leases, deliveries, histories, history_ends, capacity, returned, settings, events
-- ARGV: nonce, "cancel" or "due", for how many ms outcomes are remembered, then of each: its entry, the score it had, the score that it was given or "", 1 where it stood in the list of envelopes, the id of the item's first entry, the records of the item and of the delivery, the deadline of its lease, the value by which it is known; last the process that calls
-- RETURN: the server's time in epoch us; "done", "there" (it stands there), "again" (the id was offered again) or "gone" (it does not wait with the due time it was given) of each
-- COST: O(n log m), n entries, m waiting
-- INCLUDE: clock, act_once, envelope, delivery_record, records, remember, unlearn, leave, keep_alive, need, first_write, change_room, announce, add, head, events, check_types
local now_us, now_ms = server_time()
local who = table.remove(ARGV)
local remember_ms = tonumber(ARGV[3])
check_known()
check_types({keys.envelopes}, {keys.forget, keys.returned}, {keys.records})
need(WRITES_NOTES, RECORDING, UNLEARNING, ADDING, {'GET', 'INCRBY'})
change_nothing(function() redis.call('ZREMRANGEBYRANK', keys.timeout, 1, 0) end)

-- The record of the delivery as it was. A value that was in line is not put back into the line: it comes at its time.
local function restore_delivery(id, text, deadline)
  local d = parsed(text)
  if d and deadline ~= '' then
    redis.call('HSET', keys.deliveries, id, text)
    redis.call('ZADD', keys.leases, deadline, id)
    keep_alive(math.max(tonumber(deadline), now_ms), now_ms, {keys.deliveries, keys.leases})
  elseif d then
    d.turn = nil
    leave(id, d, d.order, now_ms)
  end
end

local function put_in(member, score, _, listed, item, record, text, deadline, value)
  local _, id = unwrap(member)
  record = record_in(record)
  if redis.call('ZSCORE', keys.timeout, member) then
    return 'there'
  elseif record and record.key ~= '' and redis.call('HEXISTS', keys.records, record.key) == 1 then
    return 'again'
  end
  redis.call('ZADD', keys.timeout, score, member)
  if listed == '1' then
    redis.call('RPUSH', keys.envelopes, member)
  end
  -- It was noted as taken out.
  redis.call('ZREM', keys.forget, item)
  if record then
    remember(item, record, remember_ms, now_ms)
    if id ~= item then
      redis.call('HSET', keys.records, 'p' .. item, 'l' .. id)
    end
    if value ~= '' then
      redis.call('HSET', keys.records, 'v' .. item, value)
    end
  end
  restore_delivery(id, text, deadline)
  if id ~= item then
    change_room(-1)
  end
  note_event('restored', item, parsed(text), (unwrap(member)), score)
  return 'done'
end

local function give_due(member, score, given, _, item, record, text, deadline)
  local _, id = unwrap(member)
  local stands = redis.call('ZSCORE', keys.timeout, member)
  if not stands or tonumber(stands) ~= tonumber(given) then
    return 'gone'
  end
  redis.call('ZADD', keys.timeout, score, member)
  local now, before = record_of(item), record_in(record)
  if before then
    remember(item, before, remember_ms, now_ms)
  elseif now and now.key == '' then
    drop(item, now)
  end
  if text ~= '' then
    unlearn(id)
    restore_delivery(id, text, deadline)
  end
  note_event('rescheduled', item, parsed(text), (unwrap(member)), score)
  return 'done'
end

local FIRST, EACH = 4, 9
local outcomes = act_once(ARGV[1], math.floor((#ARGV - FIRST + 1) / EACH), now_ms, who, function(outcomes)
  local act = ARGV[2] == 'cancel' and put_in or give_due
  local first, first_due
  for i = FIRST, #ARGV, EACH do
    local outcome = act(unpack(ARGV, i, i + EACH - 1))
    outcomes[#outcomes + 1] = outcome
    local member, due = ARGV[i], tonumber(ARGV[i + 1])
    if outcome == 'done' and (not first or due < first_due or due == first_due and member < first) then
      first, first_due = member, due
    end
  end
  if first then
    tell_added(first, first_due, now_ms)
  end
end)
return reply_with({now_us, outcomes})
