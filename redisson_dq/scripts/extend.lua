-- Gives leases another deadline, counted from now, and notes how far the work on their values has come.
-- KEYS: timeout, channel, leases, deliveries, alarm, records
-- ARGV: for how many us from now, a cursor (or "": none), the ids
-- RETURN: the server's time in epoch us; the deadline in epoch ms; "extended", "cancelled" (extended too) or "lost" of each
-- COST: O(n log m), n leases, m waiting
-- INCLUDE: clock, keep_alive, held, waking, announce, need, first_write, delivery_record, named, check_types
local now_us, now_ms = server_time()
check_types({}, {keys.timeout}, {keys.deliveries, keys.records})
need({'EXISTS', 'HEXISTS', 'HGET', 'PEXPIRE', 'PTTL', 'ZADD', 'ZCOUNT', 'ZRANGE', 'ZRANGEBYSCORE', 'ZSCORE'})
local cursor = ARGV[2]
if cursor ~= '' then
  need({'HSET'})
end
change_nothing(function() redis.call('ZREMRANGEBYRANK', keys.timeout, 1, 0) end)
local deadline, outcomes, sooner = due_of(ARGV[1], now_us), {}, false
local ids = {unpack(ARGV, 3)}
local named = redis.call('EXISTS', keys.records) == 1
local deadlines = deadlines_of(ids, now_ms)
for i, id in ipairs(ids) do
  local member = deadlines[i] and held(id, deadlines[i], #ids)
  if member then
    redis.call('ZADD', keys.timeout, deadline, member)
    redis.call('ZADD', keys.leases, deadline, id)
    sooner = sooner or deadline < tonumber(deadlines[i])
  end
  outcomes[i] = member and 'extended' or 'lost'
  if member and cursor ~= '' then
    local d = parsed(redis.call('HGET', keys.deliveries, id))
    if d then
      -- It comes last in the context, as base64 of JSON. So it goes with the record from lease to lease. An older client
      -- reads it as a part of the context, and passes it on.
      local rest = string.gsub(d.context, ',? ?"redisson_dq%.cursor":"[%w_-]*"}$', '}')
      local begun = (rest == '' or rest == '{}') and '{' or string.sub(rest, 1, -2) .. ', '
      d.context = begun .. '"redisson_dq.cursor":"' .. cursor .. '"}'
      redis.call('HSET', keys.deliveries, id, record_text(d))
    end
  end
  if member and named and was_cancelled(parsed(redis.call('HGET', keys.deliveries, id))) then
    outcomes[i] = 'cancelled'
  end
end
if redis.call('EXISTS', keys.leases) == 1 then
  keep_alive(deadline, now_ms, {keys.leases, keys.deliveries})
end
if sooner then
  wake(deadline, now_ms)
end
return reply_with({now_us, deadline, outcomes})
