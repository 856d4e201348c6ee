-- Begins or ends the history of a queue, or changes how much of it is events_kept.
-- KEYS: settings, events
-- ARGV: how many events are events_kept (0: there is no history any more), for how many ms
-- RETURN: nothing
-- COST: O(n), n events that are dropped
-- INCLUDE: need
local count = tonumber(ARGV[1])
-- Fails on a wrong type before anything is written.
redis.call('HLEN', keys.settings)
redis.call('XLEN', keys.events)
need(count == 0 and {'HDEL', 'UNLINK'} or {'HSET', 'XTRIM'})
if count == 0 then
  redis.call('HDEL', keys.settings, 'history')
  redis.call('UNLINK', keys.events)
else
  redis.call('HSET', keys.settings, 'history', ARGV[1] .. ' ' .. ARGV[2])
  redis.call('XTRIM', keys.events, 'MAXLEN', ARGV[1])
end
return 0
