-- Moves a value from an end of a list to an end of another, though the server has reached its maxmemory.
-- Answers to: RQueue.pollLastAndOfferFirstTo(String), RDeque.move(DequeMoveArgs), since 1.0
-- KEYS: any
-- ARGV: "LEFT" or "RIGHT" it is taken from, "LEFT" or "RIGHT" it goes to
-- RETURN: the value or nil
-- COST: O(1)
-- INCLUDE: first_write
change_nothing(function() redis.call('LPOP', KEYS[1], 0) end)
return redis.call('LMOVE', KEYS[1], KEYS[2], ARGV[1], ARGV[2])
