-- Runs one command, so that a guard can be put before it.
-- KEYS: any
-- ARGV: the words of the command
-- RETURN: what the command gives
-- COST: that of the command
return redis.call(unpack(ARGV))
