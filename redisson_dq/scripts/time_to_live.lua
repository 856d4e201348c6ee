-- How long a queue's side still lives, which is until the first of its keys vanishes.
-- Answers to: RExpirable.remainTimeToLive(), getExpireTime(), since 1.0
-- KEYS: any
-- RETURN: ms, -1 when no key has a time to live, -2 when there is no key; the same as the moment, in epoch ms
-- COST: O(1)
-- INCLUDE: clock, expiry
local first = -2
for _, key in ipairs(KEYS) do
  local at = vanishes_at(key)
  if at >= 0 and (first < 0 or at < first) or first == -2 then
    first = at
  end
end
if first < 0 then
  return {first, first}
end
local _, now_ms = server_time()
return {math.max(0, first - now_ms), first}
