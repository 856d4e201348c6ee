-- Takes values that wait out of the delayed queue, by their due times and in that order.
-- KEYS: timeout, envelopes, quarantine, newer, records, forget, expired, settings, recurring, recurring_due, leases, deliveries, histories, history_ends, events
-- ARGV: due from this time on in epoch ms (or ""), due by this time (or "": now), how many to pass over, how many to take at most, for how many ms outcomes are remembered, the process that calls
-- RETURN: the values; how many members were set aside, how many dropped as too late; the server's time in epoch us; of recurring offers whose occurrence has come: id, definition, its due, ...
-- COST: O(n log m), n taken, m waiting, in offer order or lean; in any other order O(n log m + p), p the way along the list, and few are taken where p is long; with leases, up to a time to come, O(s + l) more, s passed over, l leases
-- INCLUDE: clock, due_between, occurrences, need, first_write, remember, budget, taken, unlearn, events, check_types
local now_us, now_ms = server_time()
local until_ms = ARGV[2] == '' and string.format('%.0f', now_ms) or ARGV[2]

check_types(
  {keys.envelopes, keys.quarantine, keys.expired}, {keys.timeout, keys.forget, keys.recurring_due, keys.newer},
  {keys.recurring})
check_known()
local paused, history = unpack(redis.call('HMGET', keys.settings, 'paused', 'history'))
if paused then
  return {{}, 0, 0, now_us, {}}
end
keep_events(now_ms, ARGV[6], history)
need(TAKING, TAKING_DUE, ERASING, RECORDING)
change_nothing(function() redis.call('ZREMRANGEBYRANK', keys.timeout, 1, 0) end)
local found = due_between(ARGV[1], until_ms, tonumber(ARGV[3]), tonumber(ARGV[4]), now_ms)
local values = {}
local aside, late = take_due(found, now_us, now_ms, tonumber(ARGV[5]), function(value, id)
  values[#values + 1] = value
  note_event('taken', id, parsed(redis.call('HGET', keys.deliveries, id)), value)
end)
return {values, aside, late, now_us, occurrences(now_ms, 100)}
