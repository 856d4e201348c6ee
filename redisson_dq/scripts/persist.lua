-- Takes the time to live off every key of a queue's side.
-- Answers to: RExpirable.clearExpire(), since 1.0
-- KEYS: any
-- RETURN: 1 if any key had one, else 0
-- COST: O(1)
local done = 0
for _, key in ipairs(KEYS) do
  done = math.max(done, redis.call('PERSIST', key))
end
return done
