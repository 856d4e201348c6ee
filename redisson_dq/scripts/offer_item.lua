-- Puts one value in under an id, once for equal payloads, or with a latest time of delivery.
-- Answers to: nothing in RDelayedQueue; RReliableQueue's deduplication and time to live are alike
-- KEYS: timeout, envelopes, channel, settings, records, forget, alarm, leases, deliveries, histories, history_ends, ready, arrivals, dead, dead_info, dead_index, capacity, capacity_channel, quarantine, lines, turns, events
-- ARGV: envelope ("current", "legacy" or "lean"), due word, value, key ("i" and the id, "h" and the payload's hash, or ""), on duplicate ("reject", "keep", "replace"), how late it may be in ms (or ""), for how many us an equal payload is a duplicate (0: by id), for how many ms outcomes are remembered, a context (JSON, or ""), the process that calls
-- RETURN: "offered", "replaced", "kept", "duplicate" or "full"; the item's id and due; the server's time in epoch us; of a duplicate what became of it, and its value if it is not settled
-- COST: O(log m), m waiting; O(m) to replace an entry that is not lean; O(r + d) of an item that is ready or dead, r ready, d dead letters
-- INCLUDE: clock, add, records, remember, sweep, fate, whereabouts, withdraw, unlearn, need, announce, limit, delivery_record, digest, leave, forget_histories, events, check_types
local now_us, now_ms = server_time()
local envelope, word, value, key, on_duplicate, lateness = unpack(ARGV)
local duplicate_us, remember_ms, context = tonumber(ARGV[7]), tonumber(ARGV[8]), ARGV[9]

check_known()
check_types({keys.envelopes}, {keys.timeout}, {keys.records})
if context ~= '' or key ~= '' then
  check_types({keys.ready, keys.arrivals}, {keys.histories, keys.history_ends}, {keys.deliveries})
end
need(rights_to_add(envelope), RECORDING, TAKING_OUT)
sweep(now_ms, FEW_RECORDS)

local due, outcome = due_of(word, now_us), 'offered'
local old = key ~= '' and redis.call('HGET', keys.records, key)
local record, form
if old then
  record, form = record_of(old)
  refuse_newer('records', form)
end
local at = record and whereabouts(old, record.due, now_ms)
local state
if record then
  state = at and at.state or fate(old, record, record.due, remember_ms, now_ms)
  -- A payload is a duplicate for its interval, an id as long as its item waits or is remembered.
  local is_duplicate = state ~= 'unknown'
  if duplicate_us > 0 then
    is_duplicate = is_duplicate and record.duplicate > now_ms
  end
  if is_duplicate and on_duplicate ~= 'replace' then
    return reply_with({on_duplicate == 'keep' and 'kept' or 'duplicate', old, record.due, now_us, state, at and at.value})
  end
  if not is_duplicate then
    at = nil
  end
end

-- A replacement needs this too: it fails on a wrong type.
local is_room = has_room(1, now_ms, ARGV[10])
if not (at and at.member and at.state ~= 'leased') and not is_room then
  return reply_with({'full', '', 0, now_us})
end
if at then
  local replaced = at.d or events_kept and parsed(redis.call('HGET', keys.deliveries, old))
  withdraw(old, record, at, remember_ms, now_ms)
  note_event('replaced', old, replaced, at.value)
  outcome = 'replaced'
elseif record then
  -- The key goes to the new item. The rest of the old item's record stays: the old item may even wait.
  record.key = ''
  write(old, record)
end

local id = adder(envelope, now_us)(value, due)
if key ~= '' or lateness ~= '' then
  remember(id, {
    state = 'w', due = due, key = key,
    latest = lateness ~= '' and due + lateness or 0,
    duplicate = duplicate_us > 0 and due_of(duplicate_us, now_us) or 0,
  }, remember_ms, now_ms)
end
if key ~= '' then
  -- The item keeps its name until it is settled.
  local hex = string.gsub(id, '.', function(byte)
    return string.format('%02x', string.byte(byte))
  end)
  context = '{"redisson_dq.item":' .. cjson.encode(string.format('%s %.0f ', hex, remember_ms) .. key)
    .. (context == '' and '}' or ', ' .. string.sub(context, 2))
  redis.call('HSET', keys.records, 'v' .. id, value)
end
local d
if context ~= '' then
  d = unknown(digest_of(value))
  d.offered, d.due, d.context = now_ms, due, context
  leave(id, d, due, now_ms)
  -- Where Java takes the values, no receive drops their records.
  local nothing_ready = redis.call('LLEN', keys.ready) + redis.call('LLEN', keys.arrivals) == 0
  forget_histories(now_ms, nothing_ready, FEW_HISTORIES)
end
note_event('offered', id, d, value, due)
return reply_with({outcome, id, due, now_us})
