-- Takes ready values out: some or all that equal one, all that equal one of some or none of them, those beyond two indexes,
-- or all. Items with an id that go are forgotten, so that they may be offered again.
-- Answers to: RQueue.remove(Object), removeAll(Collection), retainAll(Collection), trim(int, int), clear(), delete(), since 1.0
-- KEYS: ready, arrivals, capacity, timeout, records, forget, leases, deliveries, histories, history_ends, settings, events
-- ARGV: "all", "others", "some", "trim", "clear", "delete" or "unlink"; for how many ms outcomes are remembered; the values, or of "some" how many as LREM takes it and the value, or the first and the last index, or of "delete" and "unlink" "bounded" for the capacity too; last the process that calls
-- RETURN: how many were taken out; of "clear", "delete" and "unlink" how many keys were there
-- COST: O(n), n ready; O(n k) to take k values out; O(h log m) more to clear where items have ids, h of them, m waiting
-- INCLUDE: clock, take_away, need, capacity_note, events
local who = table.remove(ARGV)
local which, remember_ms = ARGV[1], tonumber(ARGV[2])
local _, now_ms = server_time()
keep_events(now_ms, who)
if which == 'clear' or which == 'delete' or which == 'unlink' then
  local names = {keys.ready, keys.arrivals, ARGV[3] == 'bounded' and keys.capacity or nil}
  local count
  if which == 'unlink' then
    count = redis.call('UNLINK', unpack(names))
  else
    count = redis.call('DEL', unpack(names))
  end
  -- Whatever the other keys are, these are gone.
  if ARGV[3] == 'bounded' then
    forget_capacity(keys.capacity)
  end
  note_event('cleared', '', nil, nil, nil, nil, 'ready')
  pcall(function()
    if begin_taking_away(true) then
      all_taken_away(remember_ms, now_ms)
    end
  end)
  return count
end

need(which == 'others' and {'RPUSH'} or {})
local size = redis.call('LLEN', keys.ready)
take_values_away(which, remember_ms, now_ms)
return size - redis.call('LLEN', keys.ready)
