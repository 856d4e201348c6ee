-- One page of the values that receivers hold, by deadline, with their number. Changes nothing.
-- KEYS: timeout, leases, deliveries
-- ARGV: the deadline and the id of the lease that the page comes behind (or "", ""), how many at most, how many bytes of each value
-- RETURN: the server's time in epoch us; how many are held; of each: id of the lease, deadline, size of the value, its first bytes, size of the entry, "", record of its deliveries (or ""); deadline and id of the last lease that was looked at, where more may follow
-- COST: O(log m (log m + n)), n the length of the page, m waiting
-- INCLUDE: clock, behind, find
local now_us, now_ms = server_time()
local most, head = tonumber(ARGV[3]), tonumber(ARGV[4])
local now = string.format('(%.0f', now_ms)
local count, bytes = redis.call('ZCOUNT', keys.leases, now, '+inf'), 0
local first = math.max(redis.call('ZCARD', keys.leases) - count, rank_behind(keys.leases, ARGV[1], ARGV[2]))
local rows = {}
local last, at = each_behind(keys.leases, first, function(id, deadline)
  local member = find(id, deadline)
  local value = member and unwrap(member)
  if value then
    bytes = bytes + #member
    rows[#rows + 1] = {
      id, deadline, #value, string.sub(value, 1, head), #member, '', redis.call('HGET', keys.deliveries, id) or '',
    }
  end
  return #rows < most and bytes < MOST_BYTES
end)
return {now_us, count, rows, at or false, last or false}
