-- Whether each of some values is ready, by their bytes.
-- Answers to: RQueue.containsAll(Collection), since 1.0
-- KEYS: ready
-- ARGV: the values
-- RETURN: 1 if all of them are, else 0
-- COST: O(n k), n ready, k values
for _, value in ipairs(ARGV) do
  if not redis.call('LPOS', keys.ready, value) then
    return 0
  end
end
return 1
