-- Delivers due entries: chooses how much one call moves, and moves it to the ready list.
-- INCLUDE: opened, budget, reads, places, close_up, records, remember, parts, expire_late, lapse, unlearn, aside, events, check_types

-- The first due entries, in due order, as many as one call may move. Fewer where they are large.
local function due_now(pending, most, hints)
  local count = math.min(most, pending)
  if hints then
    count = math.min(count, hints.count)
  elseif count > 100 then
    count = affordable(count, redis.call('ZRANGE', keys.timeout, 0, 0)[1])
  end
  local due, bytes = {}, 0
  each_read(0, count - 1, READ, 1, function(from, till)
    return redis.call('ZRANGE', keys.timeout, from, till)
  end, function(member)
    bytes = bytes + #member
    if #due > 0 and bytes > MOST_BYTES / slowness then
      return true
    end
    due[#due + 1] = member
  end)
  return due
end

local DELIVERING = {'RPUSH', 'ZADD', 'ZREMRANGEBYRANK', 'ZSCORE'}

-- Moves due entries, as many as are found in time. Returns how many were moved, set aside, dropped as too late; then
-- how it goes on, and how many hints are used up. That is "lost" when a pass has to find the next, "done" when nothing
-- more is due, or else "found". The argument special is whether an item may have a record. leased is whether an entry may
-- be a lease.
local function deliver(due, pending, hints, now_us, now_ms, special, leased, remember_ms)
  if #due == 0 then
    return 0, 0, 0, {'done'}
  end
  check_types({keys.ready, keys.envelopes, keys.quarantine, keys.expired}, {keys.newer})
  if special then
    check_known()
  end
  local recorded = special and redis.call('HLEN', keys.records) > 0
  local bodies, ids, lapsing, listed, numbers = opened(due, leased)
  local found, places, others, is_lost = 0, {}, {}, false
  if #listed > 0 then
    local each_us = (recorded or leased) and SPECIAL_US or PLAIN_US
    found, places, others, is_lost = placed(listed, pending, hints, now_us, each_us)
  end
  local count = (numbers[found + 1] or #due + 1) - 1
  if hints then
    -- Entries that are in no list have hints too. These are used up without being needed.
    for last = count, (numbers[found] or 0) + 1, -1 do
      if hints.has(due[last]) then
        hints.use()
        break
      end
    end
  end

  local values, aside = {}, 0
  for i = 1, count do
    local member, value, id = due[i], bodies[i], ids[i]
    local record = recorded and value and record_of(id)
    if not value then
      aside = aside + set_aside(member)
    elseif not expire_if_late(id, record, value, now_ms) then
      values[#values + 1] = value
      -- The end of a lease is noted below.
      if events_kept and not lapsing[i] then
        note_event('moved', id, parsed(redis.call('HGET', keys.deliveries, id)), value)
      end
    end
    if record then
      remember(id, record, remember_ms, now_ms)
    end
  end
  in_parts(values, function(...) redis.call('RPUSH', keys.ready, ...) end)
  local late = keep_late()
  for i = 1, count do
    if lapsing[i] then
      lapse(ids[i], now_ms)
    end
  end
  close_up(places, others)
  if count > 0 then
    redis.call('ZREMRANGEBYRANK', keys.timeout, 0, count - 1)
  end
  local state = is_lost and 'lost' or count == pending and 'done' or 'found'
  return #values, aside, late, {state, hints and hints.used() or 0}
end
