-- Takes waiting values out by their due times, in that order.
-- KEYS: timeout, envelopes, quarantine, records, forget, expired, settings, leases
-- INCLUDE: envelope, held_now, budget, records, remember, expire_late, erase, taken, unlearn

local TAKING_DUE = {'HEXISTS', 'ZRANGE'}
-- A reply holds no more bytes than that, and one value.
local LARGEST = 33554432

-- Members and dues in turn: those that wait, due from a time on up to another, after the first so many.
local function due_between(since, until_ms, offset, limit, now_us, now_ms)
  local last = redis.call('ZCOUNT', keys.timeout, '-inf', until_ms) - 1
  local first = since == '' and 0 or redis.call('ZCOUNT', keys.timeout, '-inf', '(' .. since)
  -- What is held ends later than now.
  local is_held = tonumber(until_ms) > now_ms and held_now()
  if not is_held then
    last = math.min(last, first + offset + limit - 1)
    if first + offset > last then
      return {}
    end
    local most = affordable(last - first - offset + 1, redis.call('ZRANGE', keys.timeout, first, first)[1], now_us, long_budget)
    return redis.call('ZRANGE', keys.timeout, first + offset, first + offset + most - 1, 'WITHSCORES')
  end
  local found, skipped = {}, 0
  for start = first, last, 1000 do
    local page = redis.call('ZRANGE', keys.timeout, start, math.min(start + 999, last), 'WITHSCORES')
    for i = 1, #page, 2 do
      if not is_held(page[i]) then
        if skipped < offset then
          skipped = skipped + 1
        else
          found[#found + 1], found[#found + 2] = page[i], page[i + 1]
        end
        if #found == 2 * limit then
          break
        end
      end
    end
    if #found == 2 * limit then
      break
    end
  end
  for i = 2 * affordable(#found / 2, found[1], now_us, long_budget) + 1, #found do
    found[i] = nil
  end
  return found
end

-- Takes them out, and calls visit with value, id, due and whether it was a lease, before what is known of it is
-- forgotten. Gives how many were set aside, and how many were too late.
local function take_due(found, now_us, now_ms, remember_ms, visit)
  local aside, late, mirrored, bytes = 0, {}, {}, 0
  local recorded = redis.call('HLEN', keys.records) > 0
  for i = 1, #found, 2 do
    local member = found[i]
    if bytes > 0 and bytes + #member > LARGEST then
      break
    end
    bytes = bytes + #member
    local value, id = unwrap(member)
    local record = recorded and value and record_of(id)
    local was_lease = id and #id ~= 9 and redis.call('ZSCORE', keys.leases, id)
    -- A lean entry stands in no list, nor does a lease.
    if not id or #id == 8 and not was_lease then
      mirrored[#mirrored + 1] = member
    end
    if record and is_too_late(record, now_ms) then
      late[#late + 1] = late_element(record, value)
      record.state = 'x'
      remember(id, record, remember_ms, now_ms)
      unlearn(id)
      redis.call('ZREM', keys.timeout, member)
    else
      if value then
        visit(value, id, found[i + 1], was_lease)
      end
      if not taken(member, recorded) then
        aside = aside + 1
      end
    end
  end
  if #late > 0 then
    keep_late(late)
  end
  if #mirrored > 0 then
    erase(mirrored, now_us)
  end
  return aside, #late
end
