-- How many values wait.
-- Answers to: RDelayedQueue.size(), since 3.10
-- KEYS: timeout, leases
-- ARGV: none
-- RETURN: how many
-- COST: O(log l), l leases
-- INCLUDE: held_now
return redis.call('ZCARD', keys.timeout) - count_held()
