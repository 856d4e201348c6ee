-- Reads hints: the places of due entries, as a pass has found them.
-- INCLUDE: places
--
-- A hint is believed only when its entry is there, or close by.
--
--   hint    bytes 2 to 9 of an entry, which are the id or most of it; its place in 4 bytes, least significant first
local ABSENT = 4294967295
-- How many entries before the place of a hint are read when its entry is not there, and how many after it.
local BEFORE, BEHIND = 256, 32

-- The key by which the client knows an entry. Shorter members are no entries, but may be among them.
local function key_of(member)
  local key = string.sub(member, 2, 9)
  return #key == 8 and key or key .. string.rep('\0', 8 - #key)
end

-- The hints of an argument, or nil.
--
--   count    how many hints there are
--   used()   how many of them are used up
--   look(m)  the place of a member, or nil, and whether the pass did not find it
--   use()    notes that the last hint was used
--   has(m)   whether there is a hint for a member
local function hints_of(packed)
  if #packed == 0 then
    return nil
  end
  local count, next, over, drift, numbers = math.floor(#packed / 12), 0, 0, 0, nil

  -- The hint for a member, or nil. Hints are in due order, so the next one is mostly the one.
  local function hint_for(member)
    local key, number = key_of(member), next
    if string.sub(packed, 12 * number + 1, 12 * number + 8) ~= key then
      if not numbers then
        numbers = {}
        for each = 0, count - 1 do
          numbers[string.sub(packed, 12 * each + 1, 12 * each + 8)] = each
        end
      end
      number = numbers[key]
      if not number then
        return nil
      end
    end
    next = number + 1
    return struct.unpack('<I4', packed, 12 * number + 9)
  end

  local function look(member)
    local hint = hint_for(member)
    if not hint or hint == ABSENT then
      return nil, hint == ABSENT
    end
    local place = math.max(0, hint + drift)
    if redis.call('LINDEX', keys.envelopes, place) == member then
      return place, false
    end
    -- Others may have taken entries out before it.
    place = place_around(member, place, BEFORE, BEHIND)
    drift = place and place - hint or drift
    return place, false
  end

  return {
    count = count,
    used = function()
      return over
    end,
    look = look,
    use = function()
      over = math.max(over, next)
    end,
    has = function(member)
      return hint_for(member) ~= nil
    end,
  }
end
