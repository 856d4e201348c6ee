-- Counts the entries that wait in each of some spans of due times, and shows the first bytes of some values of each. Changes nothing.
-- KEYS: timeout, leases
-- ARGV: how many entries are shown at most, 0 for none; how many bytes of each value; where the spans that are shown begin, for a queue with more of them than that; then the edges of the spans in epoch ms, ascending; none for the totals alone
-- RETURN: the server's time in epoch us; how many wait; how many are overdue; how many are due before the first edge, from each edge on and before the next one, from the last edge on; the scores of the first and the last entry; of each entry shown: the number of its span from 1 on, the size of its value, its first bytes
-- COST: O((b + n) log m), b spans, n entries shown, m waiting; two ZCOUNTs for each span at most; of entries 250,000 bytes and one entry more are read
-- INCLUDE: clock, envelope
local now_us, now_ms = server_time()
local now = string.format('%.0f', now_ms)
local most, head, turn = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local FIRST, MOST_OF_A_SPAN, MOST_BYTES = 4, 12, 250000
-- A running lease is in both zsets, with its deadline.
local longest = tonumber(redis.call('ZRANGE', keys.leases, -1, -1, 'WITHSCORES')[2] or 0)

-- The entries of a span that wait, and all of them.
local function waiting(least, above, start, stop)
  local all = redis.call('ZCOUNT', keys.timeout, least, above)
  local leased = 0
  if all > 0 and start <= longest and stop > now_ms then
    leased = redis.call('ZCOUNT', keys.leases, start <= now_ms and '(' .. now or least, above)
  end
  return math.max(all - leased, 0), all
end

local held = redis.call('ZCOUNT', keys.leases, '(' .. now, '+inf')
local total = math.max(redis.call('ZCARD', keys.timeout) - held, 0)
local counts, filled = {}, {}
if #ARGV >= FIRST then
  local edges = #ARGV - FIRST + 1
  local rank
  counts[1], rank = waiting('-inf', '(' .. ARGV[FIRST], 0, tonumber(ARGV[FIRST]))
  for i = 1, edges - 1 do
    local least, above = ARGV[FIRST + i - 1], ARGV[FIRST + i]
    local count, all = waiting(least, '(' .. above, tonumber(least), tonumber(above))
    counts[#counts + 1] = count
    if count > 0 then
      filled[#filled + 1] = {span = i, rank = rank, size = all}
    end
    rank = rank + all
  end
  counts[#counts + 1] = waiting(ARGV[#ARGV], '+inf', tonumber(ARGV[#ARGV]), math.huge)
end

-- Each span in turn shows one more entry, so that large values do not leave a span empty.
local shown, bytes = {}, 0
local stride = most > 0 and math.max(1, math.ceil(#filled / most)) or 1
local each = math.min(MOST_OF_A_SPAN, math.max(1, math.floor(most / math.max(1, #filled))))
for round = 1, most > 0 and each or 0 do
  for i = 1 + turn % stride, #filled, stride do
    local span = filled[i]
    if round <= span.size and bytes < MOST_BYTES then
      local at = span.rank + math.floor((round - 0.5) * span.size / math.min(each, span.size))
      local member = redis.call('ZRANGE', keys.timeout, at, at)[1]
      local value, id = unwrap(member)
      bytes = bytes + #member
      local ends = longest > now_ms and id and #id == 10 and redis.call('ZSCORE', keys.leases, id)
      if value and not (ends and tonumber(ends) > now_ms) then
        shown[#shown + 1], shown[#shown + 2], shown[#shown + 3] = span.span, #value, string.sub(value, 1, head)
      end
    end
  end
end
return {
  now_us,
  total,
  redis.call('ZCOUNT', keys.timeout, '-inf', now),
  counts,
  redis.call('ZRANGE', keys.timeout, 0, 0, 'WITHSCORES')[2] or false,
  redis.call('ZRANGE', keys.timeout, -1, -1, 'WITHSCORES')[2] or false,
  shown,
}
