-- How many values wait.
-- Answers to: RDelayedQueue.size(), since 3.10
-- KEYS: timeout, leases
-- RETURN: how many
-- COST: O(log m), m waiting
-- INCLUDE: count_held
return math.max(0, redis.call('ZCARD', keys.timeout) - count_held())
