-- Takes waiting values out by their due times, in that order.
-- INCLUDE: opened, held_now, ranked, reads, places, close_up, records, remember, expire_late, taken

local TAKING_DUE = {'HEXISTS', 'ZRANGE'}
-- The time that reading the whole list may take, in us. No pass continues such a call.
local WHOLE_US = 80000

-- The members that wait, due from a time on up to another, after a number that is skipped, and the due of each by member.
-- No more than one call may take.
local function due_between(since, until_ms, offset, limit, now_ms)
  local last = redis.call('ZCOUNT', keys.timeout, '-inf', until_ms) - 1
  local first = since == '' and 0 or redis.call('ZCOUNT', keys.timeout, '-inf', '(' .. since)
  -- A lease that is held ends later than now.
  local is_held = tonumber(until_ms) > now_ms and held_now()
  if not is_held then
    first, offset = first + offset, 0
  end
  local found, dues, bytes = {}, {}, 0
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
    found[#found + 1], dues[member] = member, due
    return #found == limit
  end)
  return found, dues
end

-- Takes them out, as many of the first as one call has time for. Calls visit with value, id, member and whether it was a
-- lease, before its record is dropped. Returns how many were set aside, and how many were too late.
local function take_due(found, now_us, now_ms, remember_ms, visit)
  local aside, recorded = 0, redis.call('HLEN', keys.records) > 0
  local values, ids, leases, listed, numbers = opened(found, true)
  local count, places, others = 0, {}, {}
  if #listed > 0 then
    count, places, others = placed(listed, 0, nil, now_us, PLAIN_US, WHOLE_US)
  end
  for i = 1, (numbers[count + 1] or #found + 1) - 1 do
    local member, value, id = found[i], values[i], ids[i]
    local record = recorded and value and record_of(id)
    if expire_if_late(id, record, value, now_ms) then
      remember(id, record, remember_ms, now_ms)
      redis.call('ZREM', keys.timeout, member)
    else
      if value then
        visit(value, id, member, leases[i])
      end
      aside = aside + select(2, taken(member, recorded))
    end
  end
  local late = keep_late()
  close_up(places, others)
  return aside, late
end
