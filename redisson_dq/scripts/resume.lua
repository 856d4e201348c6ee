-- Ends a pause of delivery and wakes every client.
-- Answers to: nothing in RDelayedQueue; RReliableQueue.enableOperation is alike
-- KEYS: channel, settings
-- RETURN: 1 if delivery was paused, else 0
-- COST: O(1)
-- INCLUDE: announce
local paused = redis.call('HDEL', keys.settings, 'paused')
if paused == 1 then
  -- 0 is a time that has passed: every client looks at once, for recurring offers too.
  announce(keys.channel, 0)
end
return reply_with(paused)
