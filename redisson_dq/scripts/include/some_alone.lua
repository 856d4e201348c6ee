-- Tells whether entries stand in the zset alone.
-- KEYS: timeout, envelopes

-- Whether anything stands in the zset alone, so that it has to be looked at. Told by the sizes, unless entries stand in
-- the list alone: nothing moves those, so one of them is its first sooner or later.
local function some_alone(listed, size)
  return size > listed or size > 0 and not redis.call('ZSCORE', keys.timeout, redis.call('LINDEX', keys.envelopes, 0))
end
