-- Takes one waiting item out for good.
-- Answers to: nothing in Redisson, where remove(value) scans
-- KEYS: timeout, envelopes, records, forget, leases, deliveries, histories, history_ends
-- ARGV: key ("i" and the id, or ""), id and due of the entry (or ""), for how many ms outcomes are remembered
-- RETURN: "cancelled", "delivered", "expired" or "unknown"
-- COST: O(log m), m waiting, of a lean entry; of any other O(log m + p), p its way from the nearer end of the envelope list
-- INCLUDE: clock, remember, sweep, locate, fate, bury, out, unlearn, need, full_memory
local _, now_ms = server_time()
local remember_ms = tonumber(ARGV[4])
-- Fails on a wrong type before anything is written.
check_known()
need(RECORDING, {'LREM'})
despite_full_memory('ZREMRANGEBYRANK', keys.timeout, 1, 0)
sweep(now_ms, FEW_RECORDS)
local id, due, record, member = locate(ARGV[1], ARGV[2], ARGV[3])
if not id then
  return 'unknown'
elseif not member then
  return fate(id, record, due, remember_ms, now_ms)
end
take_out(id, member)
live_until(bury(id, record, due, remember_ms, now_ms), now_ms)
return 'cancelled'
