-- Takes one item away for good, wherever it is. A leased item is dropped when it comes back.
-- Answers to: nothing in Redisson, where remove(value) scans
-- KEYS: ready, arrivals, timeout, envelopes, records, forget, leases, deliveries, histories, history_ends, dead, dead_info, dead_index, capacity, capacity_channel, lines, turns, handled, quarantine, settings, events
-- ARGV: key ("i" and the id, or ""), id and due of the entry (or ""), for how many ms outcomes are remembered, the process that calls
-- RETURN: "cancelled", "delivered", "expired" or "unknown"
-- COST: O(log m), m waiting, of a lean entry; of any other O(log m + p), p its way from the nearer end of the envelope list; O(r + d) of an item that is ready or dead, r ready, d dead letters
-- INCLUDE: clock, remember, delivery_record, named, sweep, locate, fate, withdraw, unlearn, need, first_write, announce, events, item_name
local _, now_ms = server_time()
local remember_ms = tonumber(ARGV[4])
check_known()
need(RECORDING, TAKING_OUT)
change_nothing(function() redis.call('ZREMRANGEBYRANK', keys.timeout, 1, 0) end)
sweep(now_ms, FEW_RECORDS)
local id, due, record, at = locate(ARGV[1], ARGV[2], ARGV[3], now_ms)
if not id then
  return reply_with('unknown')
elseif not at then
  -- Another client has taken its value. No equal value is to get its name.
  local place, kind = place_of(id)
  if kind == 'l' and item_of(parsed(redis.call('HGET', keys.deliveries, place))) == id then
    unlearn(place)
    forget_place(id)
  end
  return reply_with(fate(id, record, due, remember_ms, now_ms))
end
local is_noted = keep_events(now_ms, ARGV[5])
local function cancel()
  local d = at.d or is_noted and parsed(redis.call('HGET', keys.deliveries, id))
  withdraw(id, record, at, remember_ms, now_ms)
  note_event('cancelled', id, d, at.value)
end
if at.state == 'leased' or not (at.d and at.d.turn) then
  cancel()
  return reply_with('cancelled')
end

-- INCLUDE: lines
check_lines()
need(LINING)
cancel()
-- Values of its key waited for it.
leave_line(at.d, now_ms)
return reply_with('cancelled')
