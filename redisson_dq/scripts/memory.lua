-- How many bytes of the server's memory the keys of a queue's side take.
-- Answers to: RObject.sizeInMemory(), since 3.7
-- KEYS: any
-- RETURN: bytes
-- COST: O(1), as Redis looks at a few elements of each key
local total = 0
for _, key in ipairs(KEYS) do
  total = total + (redis.call('MEMORY', 'USAGE', key) or 0)
end
return total
