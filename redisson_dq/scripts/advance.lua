-- Puts the next occurrence of a recurring offer in, once, however many clients try.
-- KEYS: timeout, envelopes, channel, recurring, recurring_due, alarm, settings, records, forget, events
-- ARGV: envelope ("current" or "legacy"), id, definition, due of the occurrence that has come, due of the next one in epoch ms (or "": it was the last), how late it may be in ms (or ""), for how many ms outcomes are remembered, how many occurrences were missed, due of the last of them (or ""), dues of those of them that are offered; last the process that calls
-- RETURN: 1 if this call did it, else 0; how many were missed as far as the call has come, and how many of them it offered
-- COST: O((k + 1) log m), k offered, m waiting; k values of 1 MB together at most
-- INCLUDE: clock, add, remember, need, first_write, announce, events
local who = table.remove(ARGV)
local envelope, id, definition, come, due, lateness, remember_ms, missed, last = unpack(ARGV)
-- The most bytes of missed occurrences that one call offers.
local MOST = 1000000
if redis.call('ZSCORE', keys.recurring_due, id) ~= come
  or redis.call('HGET', keys.recurring, 'd' .. id) ~= definition then
  return reply_with({0, 0, 0})
end
local offered = #ARGV - 9
if due == '' and offered == 0 then
  need({'HDEL'})
else
  redis.call('LLEN', keys.envelopes)
  redis.call('HLEN', keys.records)
  redis.call('ZCARD', keys.forget)
end
local value, before = unpack(redis.call('HMGET', keys.recurring, 'v' .. id, 'e' .. id))
-- A lean offer stays lean, unless this process writes the legacy format.
if envelope == 'current' and before and #before == 9 then
  envelope = 'lean'
end
need(rights_to_add(envelope), {'HSET'}, due == '' and {'HDEL'} or {}, lateness ~= '' and RECORDING or {})
-- The new occurrence takes the place of the delivered one.
change_nothing(function() redis.call('ZREMRANGEBYRANK', keys.timeout, 1, 0) end)
local now_us, now_ms = server_time()
local add = adder(envelope, now_us)
keep_events(now_ms, who)
local function put(value, due)
  local id = add(value, due)
  note_event('offered', id, nil, value, due)
  return id
end

-- What does not fit follows when the last of those that are offered now has come.
local fitting = math.min(offered, math.max(1, math.floor(MOST / #value)))
local entry
for i = 1, fitting do
  last = ARGV[9 + i]
  entry = put(value, tonumber(last))
end
if fitting < offered then
  missed, offered, due = missed - (offered - fitting), fitting, last
elseif due ~= '' then
  entry = put(value, tonumber(due))
  if lateness ~= '' then
    local record = {state = 'w', due = tonumber(due), latest = due + lateness, duplicate = 0, key = ''}
    remember(entry, record, tonumber(remember_ms), now_ms)
  end
end
if due == '' then
  redis.call('ZREM', keys.recurring_due, id)
  redis.call('HDEL', keys.recurring, 'd' .. id, 'v' .. id, 'e' .. id)
else
  redis.call('HSET', keys.recurring, 'e' .. id, entry)
  redis.call('ZADD', keys.recurring_due, due, id)
end
if tonumber(missed) > 0 then
  -- How many were missed altogether, when the last one was due, and of which offer.
  local so_far = tonumber(string.match(redis.pcall('HGET', keys.settings, 'missed') or '', '^%d+')) or 0
  redis.pcall('HSET', keys.settings, 'missed', string.format('%.0f %s ', so_far + missed, last) .. id)
end
return reply_with({1, tonumber(missed), offered})
