-- Finds entries in the list of envelopes by the places at which a walk met them.
-- INCLUDE: places
--
-- A walk reports a place, and others take entries out before it until the entry is acted on. So the entries of one call
-- are shifted by about as many places.

-- How many entries around a place are read, and how many once a call, where the first look finds nothing.
local CLOSE, AROUND = 8, 1000

-- Hints as `placed` takes them (places.lua). seen: member -> place. shift: how far entries are before their places. The
-- method of that name returns the shift that the last look has found.
local function seen_hints(seen, shift)
  local looked = false

  local function look(member)
    local place = seen[member] - shift
    if redis.call('LINDEX', keys.envelopes, math.max(0, place)) == member then
      return math.max(0, place), false
    end
    local found = place_around(member, place, CLOSE, CLOSE)
    if not found and not looked then
      looked = true
      found = place_around(member, place, AROUND, CLOSE) or redis.call('LPOS', keys.envelopes, member) or nil
    end
    shift = found and seen[member] - found or shift
    return found, false
  end

  return {
    look = look,
    use = function() end,
    shift = function()
      return shift
    end,
  }
end
