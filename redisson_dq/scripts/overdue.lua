-- How many items are due and have not been moved, and since when the first of them is.
-- KEYS: timeout
-- RETURN: the server's time in epoch us, how many, due of the first or nil
-- COST: O(log m), m waiting
-- INCLUDE: clock
local now_us, now_ms = server_time()
local head = redis.call('ZRANGE', keys.timeout, 0, 0, 'WITHSCORES')
return {now_us, redis.call('ZCOUNT', keys.timeout, '-inf', now_ms), head[2]}
