-- Looks for one item, wherever it is, with everything that is known of it.
-- KEYS: ready, arrivals, timeout, records, forget, leases, deliveries, histories, dead, dead_info, dead_index
-- ARGV: key ("i" and the id, or ""), id and due of the entry (or ""), for how many ms outcomes are remembered
-- RETURN: the server's time in epoch us; "waiting", "parked", "retrying", "ready", "leased", "dead", or where it is nowhere "delivered", "expired" or "unknown"; when the time of its state ends or began; of one that waits its entry, its score, the id of the item's first entry, how many attempts there were, the records of the item and of the delivery, the deadline of a lease that is over, the value by which it is known
-- COST: O(log m), m waiting; O(r + d) of an item that is ready or dead, r ready, d dead letters
-- INCLUDE: clock, locate, fate
local now_us, now_ms = server_time()
local id, due, record, at = locate(ARGV[1], ARGV[2], ARGV[3], now_ms)
if not id then
  return {now_us, 'unknown', 0}
elseif not at then
  return {now_us, fate(id, record, due, tonumber(ARGV[4]), now_ms), due}
elseif not at.member or at.state == 'leased' then
  return {now_us, at.state, at.due}
end
return {
  now_us, at.state, at.due, at.member, redis.call('ZSCORE', keys.timeout, at.member), id, at.d and at.d.attempt or 0,
  redis.call('HGET', keys.records, 'e' .. id) or '', redis.call('HGET', keys.deliveries, at.id) or '',
  redis.call('ZSCORE', keys.leases, at.id) or '', redis.call('HGET', keys.records, 'v' .. id) or '',
}
