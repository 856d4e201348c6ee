-- A part of a walk through the waiting items, with everything that is known of each.
-- KEYS: timeout, envelopes, records, leases, deliveries
-- ARGV: the cursor (include/walk.lua)
-- RETURN: the server's time in epoch us; the cursor for the next call, or ''; of each item its entry, its score, its place in the list of envelopes, or -1; of each that has a record: its number in this reply, the id of the item's first entry, "waiting", "parked" or "retrying", how many attempts there were, the records of the item and of the delivery, the deadline of a lease that is over, the value by which it is known
-- COST: O(n log m), m waiting, n met, of which one call takes some 1,500, or 375 kB
-- INCLUDE: clock, walk, envelope, delivery_record, named, state
local now_us = server_time()
local SHORT_US = 1500
local recorded = redis.call('HLEN', keys.records) > 0
local known = redis.call('HLEN', keys.deliveries) > 0
local leased = redis.call('ZCARD', keys.leases) > 0
local rows, told = {}, {}

local function tell(id, number)
  local text = known and redis.call('HGET', keys.deliveries, id) or nil
  local d = parsed(text)
  local item = recorded and d and item_at(id, d) or id
  local record = recorded and redis.call('HGET', keys.records, 'e' .. item) or nil
  local deadline = leased and redis.call('ZSCORE', keys.leases, id) or nil
  if not (text or record or deadline) then
    return
  end
  local due = record and tonumber(string.match(record, '^%l (%d+) '))
  local value = recorded and redis.call('HGET', keys.records, 'v' .. item)
  for _, each in ipairs({
    number, item, d and state_of_waiting(item, due, id, d) or 'waiting', d and d.attempt or 0, record or '', text or '',
    deadline or '', value or '',
  }) do
    told[#told + 1] = each
  end
end

local cursor = walk(ARGV[1], function(member, place)
  local _, id = unwrap(member)
  -- The zset has the entries of the list again.
  if not id or not place and #id == 8 and not (leased and redis.call('ZSCORE', keys.leases, id)) then
    return
  end
  local score = redis.call('ZSCORE', keys.timeout, member)
  if score then
    local n = #rows
    rows[n + 1], rows[n + 2], rows[n + 3] = member, score, place or -1
    tell(id, math.floor(n / 3))
  end
end, SHORT_US)
return {now_us, cursor, rows, told}
