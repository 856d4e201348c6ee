-- Looks for one item that is not settled.
-- KEYS: ready, arrivals, timeout, records, leases, deliveries, histories, dead, dead_info, dead_index
-- ARGV: key ("i" and the id, or ""), id and due of the entry (or ""), how many bytes of the value are told (-1: all)
-- RETURN: the server's time in epoch us; when it is not settled: id and due of its entry, its value or the beginning of it, key ("i" and the id of the caller's, "h" and the payload's hash, or ""), its state ("waiting", "parked", "retrying", "ready", "leased" or "dead"), when that ends or, of a ready or dead item, began, the record of its deliveries (or ""), the size of its value
-- COST: O(log m), m waiting; O(r + d) of an item that is ready or dead, r ready, d dead letters
-- INCLUDE: clock, locate
local now_us, now_ms = server_time()
local id, due, record, at = locate(ARGV[1], ARGV[2], ARGV[3], now_ms)
if not at then
  return {now_us}
end
local value, head = at.value, tonumber(ARGV[4])
local told = head >= 0 and head < #value and string.sub(value, 1, head) or value
return {now_us, id, due, told, record and record.key or '', at.state, at.due, at.d and record_text(at.d) or '', #value}
