-- Runs one command, so that a guard can stand before it.
-- Answers to: nothing in Redisson
-- KEYS: any
-- ARGV: the words of the command
-- RETURN: what the command gives
-- COST: that of the command
return redis.call(unpack(ARGV))
