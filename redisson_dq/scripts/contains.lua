-- Which of some values wait, by their bytes.
-- Answers to: RDelayedQueue.contains(Object), containsAll(Collection), since 3.10
-- KEYS: timeout, envelopes, leases
-- ARGV: the cursor (include/walk.lua), the values, each once
-- RETURN: the cursor for the next call, or ''; the numbers of the values that were met, from 0 on
-- COST: O(m + k), m waiting, k values; some 12 ms at most, but for 'whole'
-- INCLUDE: envelope, walk
local missing, left, met = {}, #ARGV - 1, {}
for i = 2, #ARGV do
  missing[ARGV[i]] = i - 2
end
local cursor = walk(ARGV[1], function(member)
  local value = unwrap(member)
  local number = value and missing[value]
  if number then
    met[#met + 1] = number
    missing[value], left = nil, left - 1
  end
  return left == 0 and 'end'
end)
return {cursor, met}
