-- How many values may wait.
-- KEYS: timeout, settings, leases
-- INCLUDE: count_held

-- Whether so many more may wait.
local function has_room(count)
  local largest = tonumber(string.match(redis.call('HGET', keys.settings, 'max_size') or '', '^%d+$') or nil)
  return not largest or redis.call('ZCARD', keys.timeout) - count_held() + count <= largest
end
