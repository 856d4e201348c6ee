-- Takes one waiting item out for good.
-- Answers to: nothing in Redisson, where remove(value) scans
-- KEYS: timeout, envelopes, records, forget
-- ARGV: key ("i" and the id, or ""), id and due of the entry (or ""), for how many ms outcomes are remembered
-- RETURN: "cancelled", "delivered", "expired" or "unknown"
-- COST: O(log m + p), m waiting, p the place of the entry in the envelope list
-- INCLUDE: clock, envelope, find, records, locate
local _, now_ms = server_time()
local remember_ms = tonumber(ARGV[4])
sweep(now_ms)
local id, due, record, member = locate(ARGV[1], ARGV[2], ARGV[3])
if not id then
  return 'unknown'
elseif not member then
  return fate(id, record, due, remember_ms, now_ms)
end
redis.call('LREM', keys.envelopes, 1, member)
redis.call('ZREM', keys.timeout, member)
live_until(bury(id, record, due, remember_ms, now_ms), now_ms)
return 'cancelled'
