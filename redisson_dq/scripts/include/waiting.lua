-- Reads what waits, in the order of offers: the list, then what stands in the zset alone, by due times.
-- KEYS: timeout, envelopes
-- INCLUDE: envelope, held_now, by_due, some_alone

-- Whether an entry stands in the zset alone, where the list has others.
local function is_lean(member)
  if string.byte(member, 1) ~= 9 then
    return false
  end
  local _, id = unwrap(member)
  return id and #id == 9
end

-- The entries from one index to another, or with -1 to the end. Where the list is empty, what stands in the zset
-- stands there alone, whatever it is; else the lean entries are picked out of it.
local function waiting_page(first, last)
  local listed, size = redis.call('LLEN', keys.envelopes), redis.call('ZCARD', keys.timeout)
  if listed == 0 then
    local alone, found = {}, by_due(first, last)
    for i = 1, #found, 2 do
      alone[#alone + 1] = found[i]
    end
    return alone
  end
  local page = redis.call('LRANGE', keys.envelopes, first, last)
  if last == -1 then
    last = listed + size
  end
  if last < listed or not some_alone(listed, size) then
    return page
  end
  local index = listed
  for start = 0, size - 1, 1000 do
    for _, member in ipairs(redis.call('ZRANGE', keys.timeout, start, start + 999)) do
      if is_lean(member) then
        if index >= first then
          page[#page + 1] = member
        end
        if index == last then
          return page
        end
        index = index + 1
      end
    end
  end
  return page
end

-- The last of those that stand in the zset alone, by due time, or nil.
local function last_lean()
  local listed, size = redis.call('LLEN', keys.envelopes), redis.call('ZCARD', keys.timeout)
  local is_held = held_now()
  for stop = -1, some_alone(listed, size) and -size or 0, -1000 do
    local members = redis.call('ZRANGE', keys.timeout, math.max(stop - 999, -size), stop)
    for i = #members, 1, -1 do
      if listed == 0 and not (is_held and is_held(members[i])) or is_lean(members[i]) then
        return members[i]
      end
    end
  end
  return nil
end
