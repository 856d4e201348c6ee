-- One page of the entries that wait, by due time, with their number. Changes nothing.
-- KEYS: timeout, records, leases, deliveries
-- ARGV: the score and the beginning of the member that the page comes behind (or "", ""), how many at most, how many bytes of each value
-- RETURN: the server's time in epoch us; how many wait; of each: id of the entry ("": in no known format), score, size of the value, its first bytes, size of the entry, key ("i" and the id of the caller's, "h" and the payload's hash, or ""), record of its deliveries (or ""); score and beginning of the last entry that was looked at, where more may follow
-- COST: O(log m (log m + n)), n the length of the page, m waiting
-- INCLUDE: clock, envelope, behind, records
local now_us, now_ms = server_time()
local most, head = tonumber(ARGV[3]), tonumber(ARGV[4])
local now = string.format('(%.0f', now_ms)
local rows = {}
local last, at = each_behind(keys.timeout, rank_behind(keys.timeout, ARGV[1], ARGV[2]), function(member, score)
  local value, id = unwrap(member)
  local ends = id and #id == 10 and redis.call('ZSCORE', keys.leases, id)
  if not (ends and tonumber(ends) > now_ms) then
    local record = id and record_of(id)
    -- A retry, and a lease that has ended, have a record of their own.
    local known = id and #id > 8 and redis.call('HGET', keys.deliveries, id)
    value = value or member
    rows[#rows + 1] = {
      id or '', score, #value, string.sub(value, 1, head), #member, record and record.key or '', known or '',
    }
  end
  return #rows < most
end)
local count = redis.call('ZCARD', keys.timeout) - redis.call('ZCOUNT', keys.leases, now, '+inf')
return {now_us, math.max(count, 0), rows, at or false, last and string.sub(last, 1, 64) or false}
