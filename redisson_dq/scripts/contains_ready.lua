-- Which of some values are ready, by their bytes.
-- Answers to: RQueue.containsAll(Collection), since 1.0
-- KEYS: ready
-- ARGV: the values, each once
-- RETURN: the numbers of the values that are ready, from 0 on
-- COST: O(n k) for few values, O(n + k) for more; n ready, k values
local met = {}
if #ARGV <= 20 then
  for i, value in ipairs(ARGV) do
    if redis.call('LPOS', keys.ready, value) then
      met[#met + 1] = i - 1
    end
  end
  return met
end
local missing, left = {}, #ARGV
for i, value in ipairs(ARGV) do
  missing[value] = i - 1
end
for start = 0, redis.call('LLEN', keys.ready) - 1, 1000 do
  for _, value in ipairs(redis.call('LRANGE', keys.ready, start, start + 999)) do
    if missing[value] then
      met[#met + 1] = missing[value]
      missing[value], left = nil, left - 1
    end
  end
  if left == 0 then
    break
  end
end
return met
