-- Whether each of some values waits, by their bytes.
-- Answers to: RDelayedQueue.contains(Object), containsAll(Collection), since 3.10
-- KEYS: envelopes
-- ARGV: the values
-- RETURN: 1 if all of them do, else 0
-- COST: O(m + k), m waiting, k values
-- INCLUDE: envelope
local missing, left = {}, 0
for _, value in ipairs(ARGV) do
  if not missing[value] then
    missing[value], left = true, left + 1
  end
end
for start = 0, redis.call('LLEN', keys.envelopes) - 1, 1000 do
  for _, member in ipairs(redis.call('LRANGE', keys.envelopes, start, start + 999)) do
    local value = unwrap(member)
    if value and missing[value] then
      missing[value], left = nil, left - 1
    end
  end
  if left == 0 then
    break
  end
end
return left == 0 and 1 or 0
