-- Removes dead letters for good.
-- KEYS: dead, dead_info, dead_index, records, forget, settings, events
-- ARGV: "ids" or "all", how many at most, for how many ms outcomes are remembered, the ids; last the process that calls
-- RETURN: how many were removed
-- COST: O(n log d), n removed, d dead letters; O(n d) by ids
-- INCLUDE: clock, letters, named, remember, records, need, events, check_types, item_name
check_types({}, {keys.dead_index, keys.forget}, {keys.dead_info, keys.records})
need(LETTERING, RECORDING)
local _, now_ms = server_time()
local who = table.remove(ARGV)
local remember_ms = tonumber(ARGV[3])
local count = 0
keep_events(now_ms, who)
take_letters(ARGV[1], {unpack(ARGV, 4)}, ARGV[2], function(value, d, id)
  note_event('purged', '', d, value)
  count = count + 1
  local item = item_of(d)
  if item and place_of(item) == id then
    live_until(bury(item, record_of(item), now_ms, remember_ms, now_ms), now_ms)
  end
end)
drop_orphans()
return count
