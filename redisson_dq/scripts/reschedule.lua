-- Gives one item another due time, wherever it is, and announces it when it is the new head. A dead letter starts
-- again. A leased item comes again at that time if the receiver fails.
-- KEYS: ready, arrivals, timeout, envelopes, channel, records, forget, alarm, leases, deliveries, histories, history_ends, dead, dead_info, dead_index, capacity, turns, quarantine, settings, events
-- ARGV: key ("i" and the id, or ""), id and due of the entry (or ""), due word, for how many ms outcomes are remembered, envelope of a new entry ("lean" or "legacy"), the process that calls
-- RETURN: "rescheduled", "delivered", "expired" or "unknown"; the new due; the server's time in epoch us
-- COST: O(log m), m waiting; O(r + d) of an item that is ready or dead, r ready, d dead letters
-- INCLUDE: clock, add, head, remember, sweep, locate, fate, need, first_write, announce, relearn, unlearn, forms, whereabouts, events
local now_us, now_ms = server_time()
local remember_ms, envelope = tonumber(ARGV[5]), ARGV[6]
check_known()
need(RECORDING)
change_nothing(function() redis.call('ZREMRANGEBYRANK', keys.timeout, 1, 0) end)
sweep(now_ms, FEW_RECORDS)
local id, due, record, at = locate(ARGV[1], ARGV[2], ARGV[3], now_ms)
if not id then
  return reply_with({'unknown', 0, now_us})
elseif not at then
  return reply_with({fate(id, record, due, remember_ms, now_ms), due, now_us})
end
refuse_newer('deliveries', newer_form('deliveries', redis.call('HGET', keys.deliveries, id)))
local new_due = due_of(ARGV[4], now_us)
-- It was rounded up, so the clock is too: a time that is now has come.
local is_ahead = new_due > math.ceil(now_us / 1000)
-- An item that is ready, or about to be, has its place among the others.
if (at.state == 'ready' or at.member and at.state ~= 'leased' and at.due <= now_ms) and not is_ahead then
  return reply_with({'rescheduled', at.member and at.due or new_due, now_us})
end
local is_noted = keep_events(now_ms, ARGV[7])
local d = at.d or is_noted and parsed(redis.call('HGET', keys.deliveries, id))

if at.member and at.state ~= 'leased' then
  redis.call('ZADD', keys.timeout, new_due, at.member)
  relearn(at.id, new_due, now_ms)
  put_off(id, record, due, new_due, at.id == id or at.state == 'waiting', remember_ms, now_ms)
  tell_added(at.member, new_due, now_ms)
  note_event('rescheduled', id, d, at.value, new_due)
  return reply_with({'rescheduled', new_due, now_us})
end

-- INCLUDE: settle, letters, leave, turn, change_room
if at.state == 'leased' then
  redis.call('HSET', keys.records, 'n' .. id, string.format('%.0f ', new_due) .. at.id)
else
  need(rights_to_add(envelope), LETTERING, FOLLOWING, {'GET', 'INCRBY', 'RPUSH'})
  if at.state == 'dead' then
    redis.call('LREM', keys.dead, 1, at.value)
    d = forget_letter(at.id)
    drop_orphans()
    begin_anew(d)
    change_room(-1)
  else
    redis.call('LREM', at.list, at.newer == 0 and -1 or 1, at.value)
    d = unlearn(at.id)
  end
  local entry = at.id
  if is_ahead then
    entry = adder(envelope, now_us)(at.value, new_due)
  else
    redis.call('RPUSH', keys.ready, at.value)
  end
  leave(entry, d, math.max(new_due, now_ms), now_ms)
  follow(d, entry)
  if record then
    -- Nobody parked it: it waits for this time.
    record.due = new_due
    remember(id, record, remember_ms, now_ms)
  end
  known_by(d, 'l', entry, new_due, now_ms, at.value)
end
note_event('rescheduled', id, d, at.value, new_due)
return reply_with({'rescheduled', new_due, now_us})
