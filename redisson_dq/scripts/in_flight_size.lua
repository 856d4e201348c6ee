-- How many values receivers hold.
-- Answers to: nothing in RBlockingQueue; RReliableQueue.countUnacknowledgedMessages() is alike
-- KEYS: leases
-- ARGV: none
-- RETURN: how many
-- COST: O(log l), l leases
-- INCLUDE: clock
local _, now_ms = server_time()
return redis.call('ZCOUNT', keys.leases, '(' .. string.format('%.0f', now_ms), '+inf')
