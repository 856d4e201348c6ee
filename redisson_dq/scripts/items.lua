-- One page of the waiting items, in the order of due times or of offers.
-- KEYS: timeout, envelopes, records, leases, deliveries
-- ARGV: "due" or "offer", first index, last index, "part" for some 1 MB of them at most
-- RETURN: the server's time in epoch us; the members; their dues; their ids of the caller's, or ""; of each that was ready before its number on the page, the id of the item's first entry, "waiting", "parked" or "retrying", how many attempts there were; 1 where there are more up to the last index, else 0
-- COST: O(log m + n), m waiting, n the length of the page; by "offer" O(s + n log m), s the first index, or O(m) beyond the list where both kinds stand
-- INCLUDE: clock, envelope, waiting, by_due, delivery_record, named, state
local now_us = server_time()
local first, last, part = tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4] == 'part'
local members, dues, given, told, is_cut = {}, {}, {}, {}, nil
if ARGV[1] == 'due' then
  local found
  found, is_cut = by_due(first, last, part)
  for i = 1, #found, 2 do
    members[#members + 1], dues[#dues + 1] = found[i], found[i + 1]
  end
else
  members, is_cut = waiting_page(first, last, part)
  for i, member in ipairs(members) do
    dues[i] = redis.call('ZSCORE', keys.timeout, member) or ''
  end
end
local recorded = redis.call('HLEN', keys.records) > 0
local known = redis.call('HLEN', keys.deliveries) > 0
for i, member in ipairs(members) do
  local _, id = unwrap(member)
  local d = known and id and parsed(redis.call('HGET', keys.deliveries, id))
  local item = recorded and d and item_at(id, d) or id
  local record = recorded and id and redis.call('HGET', keys.records, 'e' .. item)
  if d and (d.attempt > 0 or d.turn or item ~= id) then
    local n = #told
    local due = record and tonumber(string.match(record, '^%l (%d+) '))
    told[n + 1], told[n + 2], told[n + 3], told[n + 4] = i - 1, item, state_of_waiting(item, due, id, d), d.attempt
  end
  given[i] = record and string.match(record, '^%l %d+ %d+ %d+ i(.*)$') or ''
end
return {now_us, members, dues, given, told, is_cut and 1 or 0}
