-- How many values receivers hold.
-- Answers to: nothing in RBlockingQueue; RReliableQueue.countUnacknowledgedMessages() is alike
-- KEYS: timeout, leases
-- RETURN: how many
-- COST: O(log m), m waiting
-- INCLUDE: count_held
return count_held()
