-- Gives one waiting item another due time, and announces it when it is the new head.
-- Answers to: nothing in Redisson
-- KEYS: timeout, envelopes, channel, records, forget
-- ARGV: key ("i" and the id, or ""), id and due of the entry (or ""), due word, for how many ms outcomes are remembered
-- RETURN: "rescheduled", "delivered", "expired" or "unknown"; the new due; the server's time in epoch us
-- COST: O(log m), m waiting
-- INCLUDE: clock, add, envelope, find, records, locate
local now_us, now_ms, now_ms_up = server_time()
local remember_ms = tonumber(ARGV[5])
sweep(now_ms)
local id, due, record, member = locate(ARGV[1], ARGV[2], ARGV[3])
if not id then
  return {'unknown', 0, now_us}
elseif not member then
  return {fate(id, record, due, remember_ms, now_ms), due, now_us}
end
local new_due = due_of(ARGV[4], now_ms_up)
redis.call('ZADD', keys.timeout, new_due, member)
record = record or {state = 'w', latest = 0, duplicate = 0, key = ''}
if record.latest > 0 then
  record.latest = record.latest - due + new_due
end
record.due = new_due
remember(id, record, remember_ms, now_ms)
if redis.call('ZRANGE', keys.timeout, 0, 0)[1] == member then
  announce(new_due)
end
return {'rescheduled', new_due, now_us}
