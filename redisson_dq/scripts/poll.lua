-- Takes values that still wait out of the delayed queue, in offer order and then the lean ones in due order.
-- Answers to: RDelayedQueue.poll() and poll(limit), since 3.10
-- KEYS: timeout, envelopes, quarantine, newer, records, leases, deliveries, histories, history_ends, settings, events
-- ARGV: how many to take at most, the process that calls
-- RETURN: the values, how many members were set aside
-- COST: O(n log m), n taken, m waiting
-- INCLUDE: taken, by_due, clock, events
local recorded = begin_taking({'LPOP', 'ZCARD', 'ZCOUNT', 'ZRANGE'})
local history = redis.pcall('HGET', keys.settings, 'history')
if type(history) == 'string' then
  local _, now_ms = server_time()
  keep_events(now_ms, ARGV[2], history)
end
local values, aside = {}, 0
local function take(member)
  local value, quarantined, id, d = taken(member, recorded)
  if value then
    note_event('taken', id, d, value)
  end
  values[#values + 1] = value
  aside = aside + quarantined
end
local wanted = tonumber(ARGV[1])
while #values < wanted do
  local member = redis.call('LPOP', keys.envelopes)
  if not member then
    break
  end
  take(member)
end
while #values < wanted do
  local alone = by_due(0, math.min(wanted - #values, 1000) - 1)
  if #alone == 0 then
    break
  end
  for i = 1, #alone, 2 do
    take(alone[i])
  end
end
return {values, aside}
