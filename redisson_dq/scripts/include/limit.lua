-- How many values may wait.
-- INCLUDE: count_held, events

-- Whether this many more may wait. Also reads whether the queue keeps a history (events.lua).
local function has_room(count, now_ms, who)
  local largest, history = unpack(redis.call('HMGET', keys.settings, 'max_size', 'history'))
  keep_events(now_ms, who, history)
  largest = tonumber(string.match(largest or '', '^%d+$') or nil)
  return not largest or redis.call('ZCARD', keys.timeout) - count_held() + count <= largest
end
