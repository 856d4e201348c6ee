-- One page of the values that limits by key have parked, the longest parked first, with their number. Changes nothing.
-- KEYS: timeout, records, deliveries, lines, turns
-- ARGV: any text and the beginning of the member that the page comes behind (or "", ""), how many at most, how many bytes of each value
-- RETURN: the server's time in epoch us; how many are parked, at most; of each what browse_waiting tells, since when it is parked in epoch ms, and by what; "0" and the member of the last one that was looked at, where more may follow
-- COST: O(n log m), n the length of the page, m waiting
-- INCLUDE: clock, envelope, find, delivery_record, records, int
local now_us = server_time()
local most, head = tonumber(ARGV[3]), tonumber(ARGV[4])
local from = ARGV[2] == '' and '[p' or '[' .. ARGV[2] .. '\0'
local rows, last = {}, nil
local found = redis.call('ZRANGEBYLEX', keys.lines, from, '(q', 'LIMIT', 0, most)
for _, member in ipairs(found) do
  last = member
  local id = string.sub(member, 10)
  local text = redis.call('HGET', keys.deliveries, id)
  local since, label = string.match(redis.call('HGET', keys.turns, 'p' .. id) or '', '^(%d+) (%Z*)')
  local d = parsed(text)
  local entry = d and since and #since < 16 and find(id, d.order)
  -- A value that was called up is ready.
  if entry then
    local value = unwrap(entry)
    local record = record_of(id)
    rows[#rows + 1] = {
      id, int(d.order), #value, string.sub(value, 1, head), #entry, record and record.key or '', text, since, label,
    }
  end
end
local count = redis.call('ZLEXCOUNT', keys.lines, '[p', '(q')
local more = #found == most and last
return {now_us, count, rows, more and '0' or false, more or false}
