-- Takes values that wait out of the delayed queue, by their due times and in that order, and leases them.
-- KEYS: ready, timeout, envelopes, channel, quarantine, newer, records, forget, expired, settings, recurring, recurring_due, alarm, leases, deliveries, histories, history_ends, dead, dead_info, dead_index, turns, events
-- ARGV: envelope ("current" or "legacy"), what the ids of this call begin with, for how many us, after how many deliveries a value is a dead letter (0: never), due from this time on in epoch ms (or ""), due by this time (or "": now), how many to pass over, how many to take at most, for how many ms outcomes are remembered, the process that calls
-- RETURN: how many became dead letters; of each lease its id, its deadline, its record and its value; how many members were set aside, how many dropped as too late; the server's time in epoch us; of recurring offers whose occurrence has come: id, definition, its due, ...
-- COST: that of take_due
-- INCLUDE: clock, envelope, due_between, occurrences, forms, delivery_record, grant, regrant, digest, dead, need, first_write, remember, budget, taken, unlearn, settle, named, announce, events, check_types
local envelope, nonce, limit = ARGV[1], ARGV[2], tonumber(ARGV[4])
local now_us, now_ms = server_time()
local until_ms = ARGV[6] == '' and string.format('%.0f', now_ms) or ARGV[6]

check_types(
  {keys.envelopes, keys.quarantine, keys.expired, keys.dead},
  {keys.timeout, keys.forget, keys.recurring_due, keys.dead_index, keys.leases, keys.newer},
  {keys.recurring, keys.dead_info})
check_known()
-- The call was sent again, as its reply was lost: it gives the same leases.
if granted_before(nonce, now_ms) then
  return reply_with({0, granted, 0, 0, now_us, {}})
end
local paused, history = unpack(redis.call('HMGET', keys.settings, 'paused', 'history'))
if paused then
  return reply_with({0, {}, 0, 0, now_us, {}})
end
keep_events(now_ms, ARGV[10], history)
need(TAKING, TAKING_DUE, ERASING, RECORDING, GRANTING, BURYING, FOLLOWING)
change_nothing(function() redis.call('ZREMRANGEBYRANK', keys.timeout, 1, 0) end)
local deadline = due_of(ARGV[3], now_us)
local found, dues = due_between(ARGV[5], until_ms, tonumber(ARGV[7]), tonumber(ARGV[8]), now_ms)
local readable, buried = {}, 0
for _, member in ipairs(found) do
  local _, id = unwrap(member)
  -- A newer version's record of a value would be lost with its entry.
  if not (id and newer_form('deliveries', redis.call('HGET', keys.deliveries, id))) then
    readable[#readable + 1] = member
  end
end
local aside, late = take_due(readable, now_us, now_ms, tonumber(ARGV[9]), function(value, id, member, was_lease)
  local d = parsed(redis.call('HGET', keys.deliveries, id))
  if d and was_lease then
    d.crashes = d.crashes + 1
  elseif not d then
    d = unknown(digest_of(value))
    -- Another writer's score may be no whole number, or infinite.
    d.due = was_lease and 0 or math.max(0, math.min(math.ceil(dues[member]), 2 ^ 53))
  end
  if was_cancelled(d) then
    settle(d, '', now_ms)
    note_event('dropped', id, d)
  elseif limit > 0 and d.attempt >= limit then
    to_dead(letter_id(nonce), value, d, '', now_ms)
    buried = buried + 1
  else
    grant(envelope, next_id(nonce, true), value, d.digest, d, deadline, now_ms)
  end
end)
write_grants(deadline, now_ms)
return reply_with({buried, granted, aside, late, now_us, occurrences(now_ms, 100)})
