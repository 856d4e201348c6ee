-- Entries from one index to another, in offer order and then the lean ones in due order.
-- Answers to: RDelayedQueue.peek(), readAll(), iterator(), since 3.10
-- KEYS: timeout, envelopes, leases
-- ARGV: first index; last index, or -1 for the end; "part" for some 1 MB of them at most
-- RETURN: the members
-- COST: O(s + n), s the first index, n how many are given; of lean entries alone O(log m + n), m waiting; O(m) where both kinds stand
-- INCLUDE: waiting
return (waiting_page(tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3] == 'part'))
