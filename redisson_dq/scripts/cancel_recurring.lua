-- Ends a recurring offer and takes the occurrence that waits out.
-- KEYS: timeout, envelopes, recurring, recurring_due, leases, deliveries, histories, history_ends, settings, events
-- ARGV: id, the process that calls
-- RETURN: 1 if there was one, else 0
-- COST: O(log m), m waiting, of a lean occurrence; of any other O(log m + p), p its way from the nearer end of the envelope list
-- INCLUDE: find, out, unlearn, need, first_write, clock, events
local id = ARGV[1]
local due = redis.call('ZSCORE', keys.recurring_due, id)
if not due then
  change_nothing(function() redis.call('ZREMRANGEBYRANK', keys.timeout, 1, 0) end)
  return 0
end
local entry = redis.call('HGET', keys.recurring, 'e' .. id)
local member = entry and find(entry, tonumber(due))
check_known()
need(TAKING_OUT)
if member then
  local _, now_ms = server_time()
  keep_events(now_ms, ARGV[2])
  take_out(entry, member)
  note_event('cancelled', entry, nil, (unwrap(member)))
end
redis.call('ZREM', keys.recurring_due, id)
redis.call('HDEL', keys.recurring, 'd' .. id, 'v' .. id, 'e' .. id)
return 1
