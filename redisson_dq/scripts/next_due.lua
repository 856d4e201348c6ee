-- When the first of what waits is due.
-- Answers to: nothing in Redisson
-- KEYS: timeout, leases
-- ARGV: none
-- RETURN: the member and its due, or nothing
-- COST: O(log m + l), m waiting, l leases
-- INCLUDE: by_due
return by_due(0, 0)
