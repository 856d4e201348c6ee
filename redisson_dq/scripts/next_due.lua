-- The due time of the first waiting item.
-- KEYS: timeout, leases
-- RETURN: its due or nil
-- COST: O(log m + l), m waiting, l leases
-- INCLUDE: by_due
return by_due(0, 0)[2]
