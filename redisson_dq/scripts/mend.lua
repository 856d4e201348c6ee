-- Cancels waiting items, or gives them another due time: those that are still there as a walk has met them.
-- KEYS: ready, arrivals, timeout, envelopes, channel, records, forget, alarm, leases, deliveries, histories, history_ends, capacity, capacity_channel, lines, turns, handled, returned, settings, events
-- ARGV: nonce, "cancel", "to" or "by", the due time in epoch ms or how many ms later, for how many ms outcomes are remembered, how far entries are before their places, then of each its entry, its score, its place in the list of envelopes, -1 where it stands in the zset alone, -2 where that is unknown; last the process that calls
-- RETURN: the server's time in epoch us; "done", "gone", "newer" (it has a record in a newer form) or "later" (no time was left for it) of each; how far entries are before their places now
-- COST: O(n log m + p), n done, m waiting, p the way along the list to those that are cancelled and not lean; n is what fits into some 12 ms
-- INCLUDE: clock, act_once, envelope, held_now, delivery_record, named, records, forms, remember, unlearn, need, first_write, announce, events, check_types, places, close_up, seen, room, relearn, head, lines
local now_us, now_ms = server_time()
local who = table.remove(ARGV)
local action, to, remember_ms, shift = ARGV[2], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5])
check_known()
check_types({keys.envelopes}, {keys.forget, keys.returned}, {keys.records})
local lined = redis.call('EXISTS', keys.turns) == 1
if lined then
  check_lines()
end
need(
  WRITES_NOTES, RECORDING, UNLEARNING, lined and LINING or {}, action == 'cancel' and ERASING or {},
  action == 'cancel' and {'DEL', 'GET', 'INCRBY', 'LRANGE'} or {'ZRANGE'})
change_nothing(function() redis.call('ZREMRANGEBYRANK', keys.timeout, 1, 0) end)

-- An item that still waits as it was met.
local is_held = held_now()
local function item_of_entry(member, score)
  if redis.call('ZSCORE', keys.timeout, member) ~= score or is_held and is_held(member) then
    return nil, 'gone'
  end
  local _, id = unwrap(member)
  local text = redis.call('HGET', keys.deliveries, id)
  local d = parsed(text)
  local item = item_at(id, d)
  local record, form = record_of(item)
  if form or newer_form('deliveries', text) then
    return nil, 'newer'
  end
  return {id = id, d = d, item = item, record = record, member = member, due = tonumber(score)}
end

-- The entries among the arguments, from one on. Notes the outcomes of those that are not as they were met.
local function found_from(at, outcomes)
  local found = {}
  for i = at, #ARGV, 3 do
    local number = math.floor((i - at) / 3) + 1
    local each, why = item_of_entry(ARGV[i], ARGV[i + 1])
    outcomes[number] = why
    if each then
      each.number, each.place = number, tonumber(ARGV[i + 2])
      found[#found + 1] = each
    end
  end
  return found
end

-- Returns the records of those that were in line.
local function cancel(found, outcomes)
  local mirrored, seen, indexes, is_seen = {}, {}, {}, true
  for i, each in ipairs(found) do
    local is_alone = each.place == -1 or #each.id ~= 8 or redis.call('ZSCORE', keys.leases, each.id)
    if not is_alone then
      mirrored[#mirrored + 1], indexes[#indexes + 1], seen[each.member] = each.member, i, each.place
      is_seen = is_seen and each.place >= 0
    end
  end
  local count, places, others = 0, {}, {}
  local hints = seen_hints(seen, shift)
  if #mirrored > 0 then
    count, places, others = placed(mirrored, 0, is_seen and hints or nil, now_us, PLAIN_US)
  end
  local last, room, turned = 0, 0, {}
  for i, each in ipairs(found) do
    if i >= (indexes[count + 1] or #found + 1) then
      outcomes[each.number] = 'later'
    else
      note_event('cancelled', each.item, each.d, (unwrap(each.member)))
      unlearn(each.id)
      redis.call('ZREM', keys.timeout, each.member)
      -- A value that was ready once has a place in a bounded queue until it leaves.
      room = room + (each.id ~= each.item and 1 or 0)
      last = math.max(last, bury(each.item, each.record, each.due, remember_ms, now_ms))
      turned[#turned + 1] = each.d and each.d.turn and each.d or nil
      outcomes[each.number] = 'done'
    end
  end
  close_up(places, others)
  make_room(room)
  live_until(last, now_ms)
  shift = hints.shift() + count
  return turned
end

local function reschedule(found, outcomes)
  local first, first_due
  for _, each in ipairs(found) do
    local due = action == 'to' and tonumber(to) or math.ceil(each.due + tonumber(to))
    redis.call('ZADD', keys.timeout, string.format('%.0f', due), each.member)
    local is_parked = each.d and (each.d.attempt > 0 or each.d.turn)
    relearn(each.id, due, now_ms)
    note_event('rescheduled', each.item, each.d, (unwrap(each.member)), due)
    put_off(each.item, each.record, each.due, due, each.id == each.item or not is_parked, remember_ms, now_ms)
    outcomes[each.number] = 'done'
    if not first or due < first_due or due == first_due and each.member < first then
      first, first_due = each.member, due
    end
  end
  if first then
    tell_added(first, first_due, now_ms)
  end
  return {}
end

local FIRST, turned = 6, {}
local outcomes = act_once(ARGV[1], math.floor((#ARGV - FIRST + 1) / 3), now_ms, who, function(outcomes)
  turned = (action == 'cancel' and cancel or reschedule)(found_from(FIRST, outcomes), outcomes)
end)
-- Values of their keys waited for them.
for _, d in ipairs(turned) do
  leave_line(d, now_ms)
end
return reply_with({now_us, outcomes, shift})
