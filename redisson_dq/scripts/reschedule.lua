-- Gives one waiting item another due time, and announces it when it is the new head.
-- Answers to: nothing in Redisson
-- KEYS: timeout, envelopes, channel, records, forget, alarm, leases, deliveries, histories, history_ends
-- ARGV: key ("i" and the id, or ""), id and due of the entry (or ""), due word, for how many ms outcomes are remembered
-- RETURN: "rescheduled", "delivered", "expired" or "unknown"; the new due; the server's time in epoch us
-- COST: O(log m), m waiting
-- INCLUDE: clock, add, remember, sweep, locate, fate, need, full_memory, announce, relearn, unlearn, forms, refuse_newer
local now_us, now_ms = server_time()
local remember_ms = tonumber(ARGV[5])
-- Fails on a wrong type before anything is written.
check_known()
need(RECORDING)
despite_full_memory('ZREMRANGEBYRANK', keys.timeout, 1, 0)
sweep(now_ms, FEW_RECORDS)
local id, due, record, member = locate(ARGV[1], ARGV[2], ARGV[3])
if not id then
  return reply_with({'unknown', 0, now_us})
elseif not member then
  return reply_with({fate(id, record, due, remember_ms, now_ms), due, now_us})
end
refuse_newer('deliveries', newer_form('deliveries', redis.call('HGET', keys.deliveries, id)))
local new_due = due_of(ARGV[4], now_us)
redis.call('ZADD', keys.timeout, new_due, member)
relearn(id, new_due, now_ms)
record = record or {state = 'w', latest = 0, duplicate = 0, key = ''}
if record.latest > 0 then
  record.latest = record.latest - due + new_due
end
record.due = new_due
remember(id, record, remember_ms, now_ms)
if redis.call('ZRANGE', keys.timeout, 0, 0)[1] == member then
  announce_head(new_due)
end
return reply_with({'rescheduled', new_due, now_us})
