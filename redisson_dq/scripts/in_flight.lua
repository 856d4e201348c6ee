-- One page of the values that receivers hold, in the order of their deadlines.
-- KEYS: timeout, leases, deliveries
-- ARGV: first index, last index, "part" for some 1 MB of them at most
-- RETURN: the server's time in epoch us; of each lease its id, its deadline, its record ("-": none) and its value; the index of the next one, or nil at the end of the page
-- COST: O(s + n log m), s the first index, n the length of the page, m waiting
-- INCLUDE: clock, envelope, find, reads
local now_us, now_ms = server_time()
local first, last, part = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3] == 'part'
local rows, bytes = {}, 0
local held = string.format('(%.0f', now_ms)
local count = last - first + 1
local found = redis.call('ZRANGEBYSCORE', keys.leases, held, '+inf', 'WITHSCORES', 'LIMIT', first, count)
for i = 1, #found, 2 do
  local id, deadline = found[i], found[i + 1]
  local member = find(id, deadline)
  if member then
    bytes = bytes + #member
    if part and #rows > 0 and bytes > MOST_BYTES then
      return {now_us, rows, first + math.floor(i / 2)}
    end
    local n = #rows
    rows[n + 1], rows[n + 2] = id, tonumber(deadline)
    rows[n + 3], rows[n + 4] = redis.call('HGET', keys.deliveries, id) or '-', (unwrap(member))
  end
end
return {now_us, rows}
