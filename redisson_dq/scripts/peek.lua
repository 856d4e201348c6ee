-- Shows the values that a receive would give next. They stay.
-- Answers to: nothing in RBlockingQueue
-- KEYS: ready, arrivals, timeout, deliveries, histories, history_ends, records, quarantine
-- ARGV: how many at most
-- RETURN: the values
-- COST: O(n), n shown
-- INCLUDE: clock, forget_histories, need, reads
local most = tonumber(ARGV[1])
local found, bytes = {}, 0
for _, key in ipairs({keys.arrivals, keys.ready}) do
  local start, count, read = 0, FIRST_READ, nil
  while #found < most and bytes < MOST_BYTES do
    local page = redis.call('LRANGE', key, start, start + math.min(most - #found, count) - 1)
    if #page == 0 then
      break
    end
    for _, value in ipairs(page) do
      found[#found + 1] = value
    end
    start = start + #page
    read, count = next_read(page, most)
    bytes = bytes + read
  end
end
if #found == 0 and redis.call('EXISTS', keys.histories) == 1 then
  need({'HDEL', 'ZADD', 'ZREM'})
  local _, now_ms = server_time()
  forget_histories(now_ms, true, FEW_HISTORIES)
end
return found
