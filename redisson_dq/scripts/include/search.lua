-- Searches the envelope list for entries of ours, whose ids grow with the offers.
-- INCLUDE: ids, reads
--
-- Java's ids are random and lie between ours. So a search may miss an entry that a random id misled it about. It may
-- also miss one from before a step back of the clock. The caller looks for such an entry in another way.

-- How many entries a look reads for the way to them.
local worth = 1
local bytes_searched, bytes_of_one = 0, READ_BYTES

-- The facts that a search has of an entry: its place, when it was offered, its number in that us.
local function spot(place, us, number)
  return {place = place, us = us, number = number}
end

-- The spots before the first and after the last entry of the list.
local function all_of(size)
  -- In a list of this length the way to a place takes as long as reading an entry.
  worth = math.max(1, math.floor(size / 100000))
  return spot(-1, -math.huge, 0), spot(size, math.huge, 0)
end

local function is_before(one, other)
  return one.us < other.us or one.us == other.us and one.number < other.number
end

-- The first or the last of these members that is one of ours with an id between two spots, as a spot.
local function spot_in(found, first, step, before, behind, now_us)
  for i = step == 1 and 1 or #found, step == 1 and #found or 1, step do
    local us, number = offered(found[i], now_us)
    local here = us and spot(first + i - 1, us, number)
    if here and is_before(before, here) and is_before(here, behind) then
      return here
    end
  end
  return nil
end

-- Reads a number of entries from a place on, fewer where they are large.
local function read_from(place, most, count)
  count = math.max(1, math.min(count, math.floor(READ_BYTES / bytes_of_one)))
  local found = redis.call('LRANGE', keys.envelopes, place, math.min(most, place + count - 1))
  local bytes = next_read(found, 1)
  bytes_searched, bytes_of_one = bytes_searched + bytes, bytes / math.max(1, #found)
  return found
end

-- Where between two spots an entry is if the offers came evenly. The middle where that is unknown.
local function guess(wanted, before, behind)
  local span = 4096 * (behind.us - before.us) + behind.number - before.number
  if span <= 0 or span == math.huge then
    return math.floor((before.place + behind.place) / 2)
  end
  local part = 4096 * (wanted.us - before.us) + wanted.number - before.number
  return before.place + math.floor((behind.place - before.place) * part / span)
end

-- Finds one entry of ours between two spots, and gives its place or nil, and the spots that are left before it and
-- after it. As long as nothing before it is known, each look is eight times as far from the later end: fresh entries
-- are near it, whatever the others are. So it goes on where the list has none of ours. Else guesses take turns with the
-- middle, where they do not halve the rest.
local function find_place(wanted, before, behind, now_us)
  -- A look at a long part of the list reads one entry. In a part of at most SHORT entries it reads AROUND entries near a
  -- guess. Where it meets only Java's it reads JAVAS entries. A search gives up after SEARCH_BYTES.
  local SHORT, AROUND, JAVAS, SEARCH_BYTES = 256, 8, 64, 8000000
  local halved, is_javas, reach = true, false, before.us == -math.huge and 1 or 0
  while behind.place - before.place > 1 and bytes_searched < SEARCH_BYTES do
    local least, most, span = before.place + 1, behind.place - 1, behind.place - before.place
    local place = reach > 0 and most - reach or halved and guess(wanted, before, behind) or math.floor((least + most) / 2)
    local count = math.max(worth, is_javas and JAVAS or (span <= SHORT or before.us == behind.us) and AROUND or 1)
    local first = math.max(least, math.min(most, place - math.floor(count / 2)))
    local found = read_from(first, most, count)
    for i, member in ipairs(found) do
      if member == wanted.member then
        return first + i - 1, before, behind
      end
    end
    local low = spot_in(found, first, 1, before, behind, now_us)
    local high = low and spot_in(found, first, -1, before, behind, now_us)
    if not low then
      if first == least and (is_javas or first + #found > most) then
        break
      end
      is_javas, reach = true, math.max(JAVAS, reach * 8)
    elseif is_before(wanted, low) then
      behind, reach = low, reach * 8
    elseif is_before(high, wanted) then
      before, reach = high, 0
    else
      -- It would be among these.
      break
    end
    halved = 2 * (behind.place - before.place) <= span
  end
  return nil, before, behind
end

-- Finds the wanted entries from one index to another, which are sorted by their ids and lie between two spots. Notes
-- their places in `at`, by member.
local function search(wanted, first, last, before, behind, at, now_us)
  if first > last then
    return
  end
  local middle = math.floor((first + last) / 2)
  local each = wanted[middle]
  local place, low, high = find_place(each, before, behind, now_us)
  if place then
    at[each.member] = place
    low = spot(place, each.us, each.number)
    high = low
  end
  search(wanted, first, middle - 1, before, high, at, now_us)
  search(wanted, middle + 1, last, low, behind, at, now_us)
end
