-- Shows the values that a receive would give next. They stay.
-- Answers to: nothing in RBlockingQueue
-- KEYS: ready, arrivals, timeout, deliveries, histories, history_ends
-- ARGV: how many at most
-- RETURN: the values
-- COST: O(n), n shown
-- INCLUDE: clock, forget_histories, need
local most = tonumber(ARGV[1])
local found, bytes = {}, 0
for _, key in ipairs({keys.arrivals, keys.ready}) do
  local start = 0
  while #found < most and bytes < 1000000 do
    local page = redis.call('LRANGE', key, start, start + math.min(most - #found, 20) - 1)
    if #page == 0 then
      break
    end
    for _, value in ipairs(page) do
      found[#found + 1] = value
      bytes = bytes + #value
    end
    start = start + #page
  end
end
if #found == 0 and redis.call('EXISTS', keys.histories) == 1 then
  need({'HDEL', 'ZADD', 'ZREM'})
  local _, now_ms = server_time()
  forget_histories(now_ms, true, FEW_HISTORIES)
end
return found
