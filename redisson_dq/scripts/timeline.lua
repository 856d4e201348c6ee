-- Counts the entries that wait by their due times, and measures how late the overdue ones are. Changes nothing.
-- KEYS: timeout, leases
-- ARGV: ends of spans in ms from now on, ascending
-- RETURN: the server's time in epoch us; how many are overdue, how many are due within each span behind the one before, how many later; of the overdue ones the lateness in ms at 50, 90, 99 and 100 percent
-- COST: O(b log m), b spans, m waiting
-- INCLUDE: clock
local now_us, now_ms = server_time()
local function waiting(least, most)
  local held = redis.call('ZCOUNT', keys.leases, least, most)
  return math.max(redis.call('ZCOUNT', keys.timeout, least, most) - held, 0)
end
local counts, before = {}, string.format('%.0f', now_ms)
local overdue = redis.call('ZCOUNT', keys.timeout, '-inf', before)
counts[1] = overdue
for _, span in ipairs(ARGV) do
  local at = string.format('%.0f', now_ms + span)
  counts[#counts + 1] = waiting('(' .. before, at)
  before = at
end
counts[#counts + 1] = waiting('(' .. before, '+inf')
local late = {}
if overdue > 0 then
  for _, share in ipairs({0.5, 0.9, 0.99, 1}) do
    local rank = overdue - math.ceil(overdue * share)
    local found = redis.call('ZRANGE', keys.timeout, rank, rank, 'WITHSCORES')
    late[#late + 1] = math.floor(now_ms - found[2])
  end
end
return {now_us, counts, late}
