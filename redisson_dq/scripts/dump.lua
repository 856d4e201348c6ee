-- The serialized content of every key of a queue's side.
-- Answers to: RObject.dump(), since 3.2
-- KEYS: any
-- RETURN: what Redis' DUMP gives for each key, "" for one that is not there
-- COST: O(n), n the size of the keys
local dumped = {}
for i, key in ipairs(KEYS) do
  dumped[i] = redis.call('DUMP', key) or ''
end
return dumped
