-- Finds the places of due entries in the envelope list, of as many as one call has time for.
-- INCLUDE: clock, budget, ids, search, reads
--
-- The front and the end of the list are looked at first. A short list is scanned, and so is a short part of a long one.
-- Entries of ours are searched for by their ids. The entries that are left then have random ids. A few of them are left
-- to LPOS, which looks at the end of the list, and to LREM. For many of them a pass goes through the list (pass.lua),
-- and hints give later calls their places (hints.lua).
--
-- LREM looks for any entry that has no place, as often as there is time for it. It looks once at least, so each call
-- makes progress, whatever the hints are worth.

-- The most entries that are left to LREM rather than to a pass.
local FEW_DUE = 16
-- The time to move an entry, when its place was found and is marked. Then that of one that may have a record or be a lease.
local PLAIN_US, SPECIAL_US = 3, 12
-- The share of a call's time that a search takes. The rest is for moving the entries that it has found.
local SEARCHING = 0.6
-- The most entries that are read at once.
local READ = 500

-- The place of a member around a place, or nil.
local function place_around(member, place, before, behind)
  local first = math.max(0, place - before)
  for i, found in ipairs(redis.call('LRANGE', keys.envelopes, first, math.max(0, place + behind))) do
    if found == member then
      return first + i - 1
    end
  end
  return nil
end

-- The search of one call: its members, which of them it has not found yet, and the places of the others by member.
local function sought(members)
  local wanted, left = {}, 0
  for _, member in ipairs(members) do
    left = wanted[member] and left or left + 1
    wanted[member] = true
  end
  return {members = members, wanted = wanted, left = left, at = {}, complete = false}
end

-- Notes the place of a member.
local function note(seek, member, place)
  seek.at[member], seek.wanted[member] = place, nil
  seek.left = seek.left - 1
end

-- Notes the wanted entries in this part of the list, from its end if the argument says so. Stops at a time, or when
-- reading takes longer than a number of us. Returns whether all of the part was read, or all wanted entries were found.
local function noted(seek, first, last, until_us, spare_us, from_end)
  local count = math.min(READ, FIRST_READ)
  while seek.left > 0 and first <= last do
    if spare_us < 0 or server_time() > until_us then
      return false
    end
    local at = from_end and math.max(first, last - count + 1) or first
    local found, bytes = redis.call('LRANGE', keys.envelopes, at, math.min(last, at + count - 1)), nil
    for i, member in ipairs(found) do
      if seek.wanted[member] then
        note(seek, member, at + i - 1)
      end
    end
    if from_end then
      last = at - 1
    else
      first = at + count
    end
    bytes, count = next_read(found, READ)
    spare_us = spare_us - bytes * BYTE_US
  end
  return true
end

-- The members that are looked for among the fresh ones: Java's, as no search finds these. Where a few are left, all of them.
local function maybe_fresh(seek, now_us)
  local members = {}
  for member in pairs(seek.wanted) do
    if seek.left <= FEW_DUE or not offered(member, now_us) then
      members[#members + 1] = member
    end
  end
  return members
end

-- Looks at the front of the list and at its end, and among fresh entries. LPOS does that for a few members, and copies no
-- values into the script. More of them are found faster by reading.
local function look_at_the_ends(seek, size, now_us)
  -- How many at the end of the list are fresh.
  local FRESH = 2000
  -- The time that reading one end of the list may take, as some entries may be large there, in us.
  local count, ends_us = #seek.members, 2000 / slowness
  local read = noted(seek, 0, math.min(size, count) - 1, math.huge, ends_us)
  local reach = count + (#maybe_fresh(seek, now_us) > FEW_DUE and FRESH or 0)
  read = noted(seek, math.max(count, size - reach), size - 1, math.huge, ends_us, true) and read
  seek.complete = read and size <= count + reach
  local members = seek.complete and {} or maybe_fresh(seek, now_us)
  for _, member in ipairs(#members <= FEW_DUE and members or {}) do
    local place = place_among_last(member, count + FRESH)
    if place then
      note(seek, member, place)
    end
  end
end

-- The members of ours that were not found yet, with their ids and their numbers in due order.
local function ours_of(seek, now_us)
  local ours = {}
  for i, member in ipairs(seek.members) do
    local us, number = nil, nil
    if seek.wanted[member] then
      us, number = offered(member, now_us)
    end
    if us then
      ours[#ours + 1] = {member = member, us = us, number = number, index = i}
    end
  end
  return ours
end

-- The first and the last place at which these entries of ours may be.
local function part_of(ours, at, size, now_us)
  local oldest, newest = ours[1], ours[1]
  for _, each in ipairs(ours) do
    oldest = is_before(each, oldest) and each or oldest
    newest = is_before(newest, each) and each or newest
  end
  local before, behind = all_of(size)
  search({oldest}, 1, 1, before, behind, at, now_us)
  search({newest}, 1, 1, before, behind, at, now_us)
  local first, last = at[oldest.member] or 0, at[newest.member] or size - 1
  return math.min(first, last), math.max(first, last)
end

-- Searches for the first of these entries of ours, up to a number. Returns the number of the last member that it was
-- for.
local function search_for(ours, most, seek, size, now_us)
  local last = ours[most + 1] and ours[most + 1].index - 1 or #seek.members
  for i = #ours, most + 1, -1 do
    ours[i] = nil
  end
  table.sort(ours, is_before)
  local before, behind = all_of(size)
  search(ours, 1, #ours, before, behind, seek.at, now_us)
  return last
end

-- Looks for the rest. The ids of ours show in which part of the list they are. That part is read, or each of them is
-- searched for. Where many of Java's are left, a short list is read whole, if that takes no longer than a number of us.
-- Returns the time it has taken in us, and the number of the last member that it was for, or nil where a pass is
-- faster.
local function look_for(seek, size, pending, now_us, whole_us)
  -- From this number on, and a hundredth of the list, entries of ours are found faster by a pass than by a search for each.
  local MANY_DUE = 2000
  -- Where few are due in a list longer than that, how many a call searches for. The way to them takes most of its time.
  local VERY_LONG, FEW_FOUND = 2000000, 40
  local most_us, read_us = work_us(size), READ_US * size
  -- The time of a search for one of many entries of ours. The longer the list, the longer the way to a place in it.
  local each_found_us = 11 + size / 50000
  local ours = ours_of(seek, now_us)
  local javas_us = (seek.left - #ours) * PASSED_US * size
  if read_us <= math.min(whole_us, each_found_us * #ours + javas_us) then
    seek.complete = noted(seek, 0, size - 1, now_us + whole_us, whole_us)
    return read_us, #seek.members
  elseif #ours == 0 then
    return 0, javas_us <= most_us and #seek.members or nil
  end
  local first, last = part_of(ours, seek.at, size, now_us)
  local part = last - first + 1
  if READ_US * part <= math.min(most_us, each_found_us * #ours) then
    noted(seek, first, last, now_us + most_us, most_us)
    return READ_US * part, #seek.members
  elseif pending >= MANY_DUE + part / 100 then
    return 0, nil
  end
  local most = math.max(1, math.floor(SEARCHING * most_us / each_found_us))
  if pending <= FEW_MOVED and size > VERY_LONG then
    most = math.min(most, FEW_FOUND)
  end
  return each_found_us * math.min(most, #ours), search_for(ours, most, seek, size, now_us)
end

-- Looks at the ends of the list, then for the rest. Returns the time that is spent in us, the number of the last member
-- that it was for, and whether no pass is needed for those that are left.
local function searched_for(seek, size, pending, now_us, whole_us)
  local most_us, spent_us = work_us(size), 2 * #seek.members
  look_at_the_ends(seek, size, now_us)
  if seek.left == 0 or seek.complete then
    return spent_us, #seek.members, false
  end
  local us, last = look_for(seek, size, pending, now_us, whole_us or most_us)
  return math.min(spent_us + us, SEARCHING * most_us), last or #seek.members, last ~= nil
end

-- Notes that an entry is moved: how far LREM goes along the list from either end, to take out the found ones. An entry
-- at a place counts for the end that it is nearer to. Returns the time that it takes in us to get at the entry.
local function way_to(place, way, complete, size, node_us)
  if not place then
    return complete and 0 or PASSED_US * size
  elseif 2 * place < size then
    way.front = math.max(way.front, place)
  else
    way.back = math.max(way.back, size - place)
  end
  -- The way to a place goes from the nearer end, to find the entry and to mark it.
  return 2 * math.min(place, size - place) * node_us
end

-- Finds the first of these members. Returns how many of them, their places, those that are left to LREM. Also returns
-- whether a pass has to find the next. pending: how many are due. whole_us: the time that reading the whole list may
-- take.
local function placed(members, pending, hints, now_us, each_us, whole_us)
  -- How many us the way to a place takes for each byte, of entries that share a node of the list. Larger ones have one
  -- each. Then the time to move a byte.
  local WALKED_US, LARGEST, MOVED_BYTE_US = 0.00000067, 8192, 0.006
  local size = redis.call('LLEN', keys.envelopes)
  local most_us, most_way_us = work_us(size), way_us(size, pending)
  local seek, spent_us, count, searched = sought(members), 2 * #members, #members, false
  if not hints then
    spent_us, count, searched = searched_for(seek, size, pending, now_us, whole_us)
  end
  local node_us = WALKED_US * math.min(LARGEST, next_read(members, READ) / #members)
  local began_us = server_time()
  local places, others, way = {}, {}, {front = 0, back = 0}
  for i = 1, count do
    local member = members[i]
    local place, is_absent, looked_us = seek.at[member], false, 3
    if hints then
      place, is_absent = hints.look(member)
      looked_us = 6
    end
    -- Only LREM looks for one that the pass has not found: mostly it is in no list.
    if not place and not seek.complete and not is_absent then
      if not hints and pending > FEW_DUE and not searched then
        return i - 1, places, others, true
      end
      place = place_among_last(member, math.ceil(size / FRESH_PART))
      looked_us = looked_us + PASSED_US * (place and size - place or size / FRESH_PART)
    end
    spent_us = spent_us + looked_us + each_us + #member * MOVED_BYTE_US + way_to(place, way, seek.complete, size, node_us)
    local is_far = PASSED_US * (way.front + way.back) > most_way_us
    if i > 1 and (is_far or not (place or seek.complete) and spent_us > most_us) then
      return i - 1, places, others, pending > FEW_DUE and not place and not is_absent
    end
    if place then
      places[#places + 1] = place
    elseif not seek.complete then
      others[member] = true
    end
    if hints then
      hints.use()
    end
    -- Entries that were found before this loop are moved for next to nothing, however long the search took. A hint is looked up
    -- here, and its entry still has to be marked, which takes as long.
    local at_us = hints and i % 16 == 0 and server_time() or 0
    if spent_us > most_us and i % 16 == 0 or at_us > 0 and 2 * at_us - began_us + each_us * i > now_us + most_us then
      return i, places, others, false
    end
  end
  return count, places, others, false
end
