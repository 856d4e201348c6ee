-- Takes waiting values out for good, namely the first that equals one, all that equal one of some, or all that equal none.
-- Answers to: RDelayedQueue.remove(Object), removeAll(Collection), retainAll(Collection), since 3.10
-- KEYS: timeout, envelopes, records, forget, leases, deliveries, histories, history_ends, lines, turns, settings, events
-- ARGV: the cursor (include/walk.lua), "first", "all" or "others", for how many ms outcomes are remembered, the values; last the process that calls
-- RETURN: the cursor for the next call, or ''; how many were taken out
-- COST: O(m + n log m), m waiting, n taken out; some 12 ms at most and a look along the list, but for 'whole'
-- INCLUDE: clock, envelope, records, remember, close_up, parts, walk, need, unlearn, unpark, named, first_write, events, check_types
local _, now_ms = server_time()
local who = table.remove(ARGV)
local from, which, remember_ms = ARGV[1], ARGV[2], tonumber(ARGV[3])
local named = {}
for i = 4, #ARGV do
  named[ARGV[i]] = true
end

check_known()
check_types({}, {keys.timeout, keys.forget})
local recorded = redis.call('HLEN', keys.records) > 0

local places, members, ids, others, met = {}, {}, {}, {}, {}
local cursor = walk(from, function(member, place)
  local value, id = unwrap(member)
  if value and (named[value] ~= nil) == (which ~= 'others') then
    if not met[member] then
      local n = #members + 1
      members[n], ids[n], met[member] = member, id, true
    end
    if place then
      places[#places + 1] = place
    end
    return which == 'first' and 'end' or 'out'
  elseif place then
    others[#others + 1] = member
  end
end)

need(RECORDING, {'DEL', 'LREM', 'LSET', 'LTRIM', 'RPUSH'})
change_nothing(function() redis.call('ZREMRANGEBYRANK', keys.timeout, 1, 0) end)
keep_events(now_ms, who)
local last = 0
for i, member in ipairs(members) do
  local due = redis.call('ZSCORE', keys.timeout, member)
  local d = unlearn(ids[i])
  local item = item_at(ids[i], d)
  unpark(ids[i], item, d)
  note_event('removed', item, d, (unwrap(member)))
  redis.call('ZREM', keys.timeout, member)
  local at = bury(item, recorded and record_of(item), tonumber(due or 0), remember_ms, now_ms)
  last = math.max(last, at)
end
live_until(last, now_ms)
local at_once = which ~= 'first' and cursor == '' and (from == '' or from == 'whole')
if at_once and #others < #places then
  -- The whole list was walked, and few entries stay: these are written again.
  redis.call('DEL', keys.envelopes)
  in_parts(others, function(...) redis.call('RPUSH', keys.envelopes, ...) end)
else
  close_up(places, {})
end
return {cursor, #members}
