-- Takes waiting values out by their due times, in that order.
-- INCLUDE: envelope, held_now, ranked, reads, places, close_up, records, remember, expire_late, taken, unlearn, newer_entry, named

local TAKING_DUE = {'HEXISTS', 'ZRANGE'}
-- The time that reading the whole list may take, in us. No pass continues such a call.
local WHOLE_US = 80000

-- Members and dues in turn: those that wait, due from a time on up to another, after a number that is skipped. No more
-- than one call may take.
local function due_between(since, until_ms, offset, limit, now_ms)
  local last = redis.call('ZCOUNT', keys.timeout, '-inf', until_ms) - 1
  local first = since == '' and 0 or redis.call('ZCOUNT', keys.timeout, '-inf', '(' .. since)
  -- A lease that is held ends later than now.
  local is_held = tonumber(until_ms) > now_ms and held_now()
  if not is_held then
    first, offset = first + offset, 0
  end
  local found, bytes = {}, 0
  each_ranked(first, last, function(member, due)
    if is_held and is_held(member) then
      return false
    elseif offset > 0 then
      offset = offset - 1
      return false
    end
    bytes = bytes + #member
    if #found > 0 and bytes > MOST_BYTES then
      return true
    end
    found[#found + 1], found[#found + 2] = member, due
    return #found == 2 * limit
  end)
  return found
end

-- Takes them out, as many of the first as one call has time for. Calls visit with value, id, due and whether it was a
-- lease, before its record is dropped. Returns how many were set aside, and how many were too late.
local function take_due(found, now_us, now_ms, remember_ms, visit)
  local aside, late, mirrored, numbers, was_lease = 0, {}, {}, {}, {}
  local recorded = redis.call('HLEN', keys.records) > 0
  for i = 1, #found, 2 do
    local _, id = unwrap(found[i])
    was_lease[i] = id and #id ~= 9 and redis.call('ZSCORE', keys.leases, id)
    -- Lean entries, leases and entries of a newer version are in no list.
    if id and #id == 8 and not was_lease[i] or not id and not is_newer(found[i]) then
      mirrored[#mirrored + 1], numbers[#numbers + 1] = found[i], i
    end
  end
  local count, places, others = 0, {}, {}
  if #mirrored > 0 then
    count, places, others = placed(mirrored, 0, nil, now_us, PLAIN_US, WHOLE_US)
  end
  for i = 1, (numbers[count + 1] or #found + 1) - 1, 2 do
    local member = found[i]
    local value, id = unwrap(member)
    local record = recorded and value and record_of(id)
    if record and is_too_late(record, now_ms) then
      late[#late + 1] = late_element(record, value)
      record.state = 'x'
      remember(id, record, remember_ms, now_ms)
      unlearn(id)
      forget_place(id)
      redis.call('ZREM', keys.timeout, member)
    else
      if value then
        visit(value, id, found[i + 1], was_lease[i])
      end
      aside = aside + select(2, taken(member, recorded))
    end
  end
  if #late > 0 then
    keep_late(late)
  end
  close_up(places, others)
  return aside, #late
end
