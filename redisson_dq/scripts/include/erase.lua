-- Takes entries out of the envelope list, each once. Needs envelope.lua, keys.envelopes.
--
-- The list is Redisson's: in offer order, without an index. What fell due in offer order stands at its front and is
-- cut off. For the others there are three ways, and their costs decide, in us:
--
--   one by one   LREM of each                          0.008 n m      n entries out of m
--   by search    binary search by ids, one LREM        n (45 + m / 8000) + 0.017 m
--   by scan      every entry is looked at, one LREM    0.26 m + 4 n
--
-- Our ids grow with the offers, Java's are random and stand between them. What a search does not find (an entry of
-- Java's, one that a random id misled it about, one from before a step back of the clock) is scanned for, or, if
-- there are few, left to LREM.
local ERASED = 'redisson_dq: erased'
-- So many LREMs cost as much as one scan.
local FEW = 32
local YEAR_US = 31536000 * 1000000

-- When an entry was offered, in us, and its number in that us; nil for one that is none of ours.
local function offered(member, now_us)
  local _, id = unwrap(member)
  if not id then
    return nil
  end
  local high, low = struct.unpack('>I4I4', id)
  local us = high * 1048576 + math.floor(low / 4096)
  if us > now_us + YEAR_US or us < now_us - YEAR_US then
    return nil
  end
  return us, low % 4096
end

-- The next entry of ours from a place on, at most 64 behind it: when it was offered, and its place.
local function ours_from(place, last, now_us)
  for _, range in ipairs({{place, place}, {place + 1, math.min(place + 64, last)}}) do
    for i, member in ipairs(redis.call('LRANGE', keys.envelopes, range[1], range[2])) do
      local us, number = offered(member, now_us)
      if us then
        return us, number, range[1] + i - 1
      end
    end
  end
  return nil
end

-- The place of an entry of ours in the list, or nil where it was not found.
local function place_of(member, size, now_us)
  local us, number = offered(member, now_us)
  if not us then
    return nil
  end
  local low, high = 0, size - 1
  while high - low >= 8 do
    local middle = math.floor((low + high) / 2)
    local found_us, found_number, place = ours_from(middle, high, now_us)
    if not found_us then
      return nil
    elseif found_us < us or found_us == us and found_number < number then
      low = place + 1
    elseif found_us == us and found_number == number then
      low, high = place, place
    else
      high = middle - 1
    end
  end
  for i, found in ipairs(redis.call('LRANGE', keys.envelopes, low, high)) do
    if found == member then
      return low + i - 1
    end
  end
  return nil
end

-- What it costs when nothing stands at the front, and which way is the cheapest.
local function cost_of_erasing(count, size)
  local each, search = 0.008 * count * size, count * (45 + size / 8000) + 0.017 * size
  local scan = 0.26 * size + 4 * count
  local least = math.min(each, search, scan)
  return least, least == each and 'each' or least == search and 'search' or 'scan'
end

-- Takes the entries at these places out, and these members wherever they are.
local function cut(places, members)
  -- Marked first: what LREM takes out moves the places behind it.
  for _, place in ipairs(places) do
    redis.call('LSET', keys.envelopes, place, ERASED)
  end
  for member in pairs(members) do
    redis.call('LREM', keys.envelopes, 1, member)
  end
  if #places > 0 then
    redis.call('LREM', keys.envelopes, #places, ERASED)
  end
end

local function erase(members, now_us)
  local wanted, left = {}, #members
  for _, member in ipairs(members) do
    wanted[member] = true
  end
  local front = 0
  for _, member in ipairs(redis.call('LRANGE', keys.envelopes, 0, #members - 1)) do
    if not wanted[member] then
      break
    end
    wanted[member] = nil
    front = front + 1
  end
  if front > 0 then
    redis.call('LTRIM', keys.envelopes, front, -1)
    left = left - front
  end
  if left == 0 then
    return
  end

  local size = redis.call('LLEN', keys.envelopes)
  local _, way = cost_of_erasing(left, size)
  local places = {}
  if way == 'search' then
    for member in pairs(wanted) do
      local place = place_of(member, size, now_us)
      if place then
        places[#places + 1] = place
        wanted[member] = nil
        left = left - 1
      end
    end
  end
  if way == 'scan' or way == 'search' and left > FEW then
    for start = 0, size - 1, 1000 do
      for i, member in ipairs(redis.call('LRANGE', keys.envelopes, start, start + 999)) do
        if wanted[member] then
          places[#places + 1] = start + i - 1
          wanted[member] = nil
          left = left - 1
        end
      end
      if left == 0 then
        break
      end
    end
    -- What a scan did not find is not there.
    wanted = {}
  end
  cut(places, wanted)
end
