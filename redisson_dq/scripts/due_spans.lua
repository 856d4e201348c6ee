-- Counts the entries that wait in each of some spans of due times. Changes nothing.
-- Answers to: nothing in Redisson
-- KEYS: timeout, leases
-- ARGV: edges of spans in epoch ms, ascending; none for the totals alone
-- RETURN: the server's time in epoch us; how many wait; how many are overdue; how many are due before the first edge, from each edge on and before the next one, from the last edge on; the scores of the first and the last entry
-- COST: O(b log m), b spans, m waiting; two ZCOUNTs for each span at most
-- INCLUDE: clock
local now_us, now_ms = server_time()
local now = string.format('%.0f', now_ms)
-- A lease that goes on stands in both zsets, with its deadline.
local longest = tonumber(redis.call('ZRANGE', keys.leases, -1, -1, 'WITHSCORES')[2] or 0)
local function waiting(least, most, start, stop)
  local count = redis.call('ZCOUNT', keys.timeout, least, most)
  if count > 0 and start <= longest and stop > now_ms then
    count = count - redis.call('ZCOUNT', keys.leases, start <= now_ms and '(' .. now or least, most)
  end
  return math.max(count, 0)
end
local held = redis.call('ZCOUNT', keys.leases, '(' .. now, '+inf')
local total = math.max(redis.call('ZCARD', keys.timeout) - held, 0)
local counts = {}
if #ARGV > 0 then
  counts[1] = waiting('-inf', '(' .. ARGV[1], 0, tonumber(ARGV[1]))
  for i = 1, #ARGV - 1 do
    counts[#counts + 1] = waiting(ARGV[i], '(' .. ARGV[i + 1], tonumber(ARGV[i]), tonumber(ARGV[i + 1]))
  end
  counts[#counts + 1] = waiting(ARGV[#ARGV], '+inf', tonumber(ARGV[#ARGV]), math.huge)
end
return {
  now_us,
  total,
  redis.call('ZCOUNT', keys.timeout, '-inf', now),
  counts,
  redis.call('ZRANGE', keys.timeout, 0, 0, 'WITHSCORES')[2] or false,
  redis.call('ZRANGE', keys.timeout, -1, -1, 'WITHSCORES')[2] or false,
}
