-- Whether each of some values waits, by their bytes.
-- Answers to: RDelayedQueue.contains(Object), containsAll(Collection), since 3.10
-- KEYS: timeout, envelopes, leases
-- ARGV: the values
-- RETURN: 1 if all of them do, else 0
-- COST: O(m + k), m waiting, k values
-- INCLUDE: envelope, waiting
local missing, left = {}, 0
for _, value in ipairs(ARGV) do
  if not missing[value] then
    missing[value], left = true, left + 1
  end
end
each_waiting(function(member)
  local value = unwrap(member)
  if value and missing[value] then
    missing[value], left = nil, left - 1
  end
  return left == 0
end)
return left == 0 and 1 or 0
