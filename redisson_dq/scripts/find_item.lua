-- Looks for one item that is not settled.
-- Answers to: nothing in Redisson
-- KEYS: ready, arrivals, timeout, records, leases, deliveries, histories, dead, dead_info, dead_index
-- ARGV: key ("i" and the id, or ""), id and due of the entry (or "")
-- RETURN: the server's time in epoch us; when it is not settled: id and due of its entry, its value, key ("i" and the id of the caller's, "h" and the payload's hash, or ""), its state ("waiting", "parked", "retrying", "ready", "leased" or "dead"), when that ends or, of a ready or dead item, began, how many attempts there were
-- COST: O(log m), m waiting; O(r + d) of an item that is ready or dead, r ready, d dead letters
-- INCLUDE: clock, locate
local now_us, now_ms = server_time()
local id, due, record, at = locate(ARGV[1], ARGV[2], ARGV[3], now_ms)
if not at then
  return {now_us}
end
return {now_us, id, due, at.value, record and record.key or '', at.state, at.due, at.d and at.d.attempt or 0}
