-- Declares a recurring offer, and adds its first occurrence unless the same declaration exists already.
-- KEYS: timeout, envelopes, channel, recurring, recurring_due, alarm, leases, deliveries, histories, history_ends, records, forget, settings, events
-- ARGV: envelope ("current", "legacy" or "lean"), id, definition, value, due of the first occurrence in epoch ms, how late it may be in ms (or ""), for how many ms outcomes are remembered, the process that calls
-- RETURN: "offered", "replaced" or "kept"; due of the occurrence that waits; the server's time in epoch us
-- COST: O(log m), m waiting; O(m) to replace an occurrence that is not lean
-- INCLUDE: clock, add, find, out, unlearn, remember, need, announce, events, check_types
local now_us, now_ms = server_time()
local envelope, id, definition, value, due, lateness, remember_ms = unpack(ARGV)

check_known()
check_types({keys.envelopes}, {keys.timeout})
local before = redis.call('HMGET', keys.recurring, 'd' .. id, 'v' .. id, 'e' .. id)
local due_before = redis.call('ZSCORE', keys.recurring_due, id)
if due_before and before[1] == definition and before[2] == value then
  return reply_with({'kept', due_before, now_us})
end
need(rights_to_add(envelope), TAKING_OUT, {'HGET', 'HSET'}, lateness ~= '' and RECORDING or {})
if due_before and before[3] then
  local waits = find(before[3], tonumber(due_before))
  if waits then
    take_out(before[3], waits)
  end
end
local entry = adder(envelope, now_us)(value, tonumber(due))
if lateness ~= '' then
  local record = {state = 'w', due = tonumber(due), latest = due + lateness, duplicate = 0, key = ''}
  remember(entry, record, tonumber(remember_ms), now_ms)
end
keep_events(now_ms, ARGV[8])
note_event('offered', entry, nil, value, tonumber(due))
redis.call('HSET', keys.recurring, 'd' .. id, definition, 'v' .. id, value, 'e' .. id, entry)
redis.call('ZADD', keys.recurring_due, due, id)
return reply_with({due_before and 'replaced' or 'offered', due, now_us})
