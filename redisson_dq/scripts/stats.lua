-- Counts how much is in a queue, how long it is overdue, and finds out who moves it. Changes nothing.
-- KEYS: ready, timeout, envelopes, channel, quarantine, undecodable, settings, recurring_due, mover, leases, deliveries, dead, lines
-- ARGV: the Redis type of each key, "" for the channel
-- RETURN: the server's time in epoch us; of each key that is there: its number, its type, its size (0 for a wrong type); names of figures and what is known of each, in turn
-- COST: O(log m), m waiting; at most two entries of the waiting side are read, and 100 records of leases where values are ready
-- INCLUDE: clock, figures, looks
-- How many leases whose entries are gone are looked for at each end.
local MOST_GONE = 100
local now_us, now_ms = server_time()
local rows = keys_there(function() end)
tell_waiting(now_ms, MOST_GONE)
tell_state()
tell_parked()
tell_receipt(now_ms)
return {now_us, rows, told}
