-- Drops records beyond their time, as many as one call has time for.
-- KEYS: ready, arrivals, timeout, records, forget, leases, deliveries, histories, history_ends, turns, handled, quarantine, settings, events
-- ARGV: the process that calls
-- RETURN: in how many ms there is more to drop (0: at once), or nil where nothing is remembered
-- COST: O(n log m), n dropped, m waiting; some 5 ms at most
-- INCLUDE: clock, sweep, reap, lapse, forget_histories, need, first_write, events

-- How many of each kind one call looks at.
local MOST = 100
-- After how many ms a record is looked at again that is over and stays for now; any other after a day at most.
local AGAIN_MS, LONGEST_MS = 300000, 86400000
local _, now_ms = server_time()
if redis.call('EXISTS', keys.forget, keys.leases, keys.history_ends, keys.handled) == 0 then
  return nil
end
some_leased()
keep_events(now_ms, ARGV[1])
need(RECORDING, LAPSING)
change_nothing(function() redis.call('ZREMRANGEBYRANK', keys.timeout, 1, 0) end)

local looked_at = math.max(
  sweep(now_ms, MOST),
  reap(now_ms, MOST),
  forget_histories(now_ms, redis.call('LLEN', keys.ready) + redis.call('LLEN', keys.arrivals) == 0, MOST))
local handled = redis.call('ZRANGEBYSCORE', keys.handled, '-inf', now_ms, 'LIMIT', 0, MOST)
if #handled > 0 then
  redis.call('ZREM', keys.handled, unpack(handled))
end
if math.max(looked_at, #handled) == MOST then
  return 0
end

local soonest
for _, key in ipairs({keys.forget, keys.leases, keys.history_ends, keys.handled}) do
  local first = tonumber(redis.call('ZRANGE', key, 0, 0, 'WITHSCORES')[2])
  if first then
    -- A lease that is over is about to be moved. The record of a ready value, or of an overdue one, stays as long as
    -- the value.
    local may_stay = first <= now_ms or key == keys.history_ends
    first = math.max(first - now_ms, may_stay and AGAIN_MS or 0)
    soonest = math.min(soonest or LONGEST_MS, math.ceil(first))
  end
end
return soonest
