-- Takes the lean value that is due last, or else the one that was offered last, and puts it at the front of a list.
-- Answers to: RDelayedQueue.pollLastAndOfferFirstTo(String), since 3.10
-- KEYS: timeout, envelopes, quarantine, newer, records, destination, leases, deliveries, histories, history_ends, settings, events
-- ARGV: the process that calls
-- RETURN: how many members were set aside, the value or nil
-- COST: O(log m), m waiting; O(m) where both kinds stand
-- INCLUDE: taken, waiting, clock, events
redis.call('LLEN', keys.destination)
local recorded = begin_taking({'LINDEX', 'LLEN', 'LPUSH', 'RPOP', 'ZCARD', 'ZCOUNT', 'ZRANGE'})
local _, now_ms = server_time()
keep_events(now_ms, ARGV[1])
local aside = 0
while true do
  local member = last_lean() or redis.call('RPOP', keys.envelopes)
  if not member then
    return {aside}
  end
  local value, quarantined, id, d = taken(member, recorded)
  if value then
    note_event('taken', id, d, value)
    redis.call('LPUSH', keys.destination, value)
    return {aside, value}
  end
  aside = aside + quarantined
end
