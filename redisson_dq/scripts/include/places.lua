-- Finds out where due entries stand in the envelope list, of as many as one call has time for.
-- KEYS: timeout, envelopes
-- INCLUDE: clock, budget, cost, search, reads
--
-- The front and the end of the list are looked at first. A short list is scanned. Entries of ours are searched for. The
-- entries that are left then have random ids, and stand anywhere in a long list. A pass finds these: it goes through
-- the list from its end to its front, in slices of one call each. A slice changes nothing, and answers with places.
-- When the pass is over, the client gives the places back as hints, less the entries in front that were taken out
-- since.
--
-- A hint is believed only when its entry stands there, or close by. LREM looks for any other entry, as often as there
-- is time for it. It looks once at least, so each call gets on whatever the hints are worth.
--
-- Time is estimated by what each step costs. In Redis before 7.2 the clock goes on while a script runs, and ends the
-- search sooner if need be. In later Redis, and in Valkey, it stands still.
--
--   hint    bytes 2 to 9 of an entry, which are the id or most of it; its place in 4 bytes, least significant first
local ABSENT = 4294967295
-- Up to so many entries are left to LREM rather than to a pass.
local FEW_DUE = 16
-- Of so many, and a hundredth of the list, those of ours are found faster by a pass than by a search for each.
local MANY_DUE = 2000
-- What things take, in us. LREM passes an entry. An entry is moved, when its place was found and is marked. The same with
-- one that may have a record or be a lease.
local PASSED_US, PLAIN_US, SPECIAL_US = 0.025, 3, 12
-- A key is read. An entry of a slice is looked at for what is wanted, or its key is noted.
local KEY_US, NAMED_US, LISTED_US = 1, 0.5, 0.75
-- A call of a pass takes so many us, and reads so many entries at once. A pass is for so many.
local SLICE_US, READ, WANTED = 12000, 500, 100000
-- The way to a place passes over each byte in so many us, of entries that share a node of the list. Larger ones have one
-- each. What a byte takes that is moved.
local WALKED_US, LARGEST, MOVED_BYTE_US = 0.00000067, 8192, 0.006
-- What reading one end of the list may take, as some may be large there, in us.
local ENDS_US = 2000
-- How many entries before the place of a hint are read when its entry is not there.
local WIDE = 256

-- The key by which the client knows an entry. Shorter members are no entries, but may stand among them.
local function key_of(member)
  local key = string.sub(member, 2, 9)
  return #key == 8 and key or key .. string.rep('\0', 8 - #key)
end

-- The hints of an argument, or nil.
local function hints_of(packed)
  if #packed == 0 then
    return nil
  end
  return {packed = packed, count = math.floor(#packed / 12), next = 0, over = 0, drift = 0}
end

-- The place that the hints tell of, or nil. They are in due order, so the next one is mostly the one.
local function hint_for(member, hints)
  local key, number = key_of(member), hints.next
  if string.sub(hints.packed, 12 * number + 1, 12 * number + 8) ~= key then
    if not hints.numbers then
      hints.numbers = {}
      for each = 0, hints.count - 1 do
        hints.numbers[string.sub(hints.packed, 12 * each + 1, 12 * each + 8)] = each
      end
    end
    number = hints.numbers[key]
    if not number then
      return nil
    end
  end
  hints.next = number + 1
  return struct.unpack('<I4', hints.packed, 12 * number + 9)
end

-- The place of a member that stands where its hint says, or somewhat before: others may have taken entries out.
local function hinted_place(member, hint, hints)
  local place = math.max(0, hint + hints.drift)
  if redis.call('LINDEX', keys.envelopes, place) == member then
    return place
  end
  local first = math.max(0, place - WIDE)
  for i, found in ipairs(redis.call('LRANGE', keys.envelopes, first, place + math.floor(WIDE / 8))) do
    if found == member then
      hints.drift = first + i - 1 - hint
      return first + i - 1
    end
  end
  return nil
end

-- Moves what is wanted and stands in this part of the list to `at`, with its place. Stops at a time, or when reading takes
-- longer than so many us. Gives how many are left, and whether all of the part was read.
local function noted(at, wanted, left, first, last, until_us, spare_us)
  local count = math.min(READ, FIRST_READ)
  while left > 0 and first <= last do
    if spare_us < 0 or server_time() > until_us then
      return left, false
    end
    local found, bytes = redis.call('LRANGE', keys.envelopes, first, math.min(last, first + count - 1)), nil
    for i, member in ipairs(found) do
      if wanted[member] then
        at[member], wanted[member] = first + i - 1, nil
        left = left - 1
      end
    end
    first = first + count
    bytes, count = next_read(found, READ)
    spare_us = spare_us - bytes * BYTE_US
  end
  return left, true
end

-- The places of those members that stand at the front of the list or at its end, by member. Gives what is left to find,
-- how many these are, and whether they stand nowhere as all of the list was read.
local function at_the_ends(members, size)
  local wanted, at, left, complete = {}, {}, #members, size <= 2 * #members
  for _, member in ipairs(members) do
    wanted[member] = true
  end
  for _, first in ipairs({0, math.max(#members, size - #members)}) do
    local all_read
    left, all_read = noted(at, wanted, left, first, math.min(size, first + #members) - 1, math.huge, ENDS_US / slowness)
    complete = complete and all_read
  end
  return at, wanted, left, complete
end

-- Finds the first of these members. Gives how many of them, their places, those that are left to LREM. Also tells
-- whether a pass has to find the next. pending: how many are due.
local function placed(members, pending, hints, now_us, each_us)
  local size = redis.call('LLEN', keys.envelopes)
  -- However long the list, some time is left for moving entries. A call goes along the list once, however little it
  -- moves. So it moves for at least a quarter of that time on a slow server too.
  local most_us = math.max(short_budget(size) - PASSED_US * size, short_budget(size) / 4, PASSED_US * size / 4)
  local at, complete, sample, spent_us = {}, false, nil, 2 * #members
  if not hints then
    local wanted, left
    at, wanted, left, complete = at_the_ends(members, size)
    local cost, way = cost_of_erasing(left, size, false)
    if left == 0 then
      complete = true
    elseif not complete and way == 'scan' and cost < short_budget(size) then
      left, complete = noted(at, wanted, left, 0, size - 1, now_us + most_us, most_us)
      spent_us = 0.27 * size
    end
    cost, way = cost_of_erasing(left, size, true)
    sample = not complete and way == 'search' and pending < MANY_DUE + size / 100 and {count = left}
  end
  local node_us = WALKED_US * math.min(LARGEST, next_read(members, READ) / #members)
  local began_us = server_time()
  local places, others = {}, {}
  for i, member in ipairs(members) do
    local place, hint = at[member], hints and hint_for(member, hints)
    if hint and hint ~= ABSENT then
      place = hinted_place(member, hint, hints)
    elseif not place and sample and offered(member, now_us) then
      if not sample.places then
        sample = sample_of(sample.count, size, now_us)
        spent_us = spent_us + #sample.places * (2 + node_us * size / 4)
      end
      place = place_of(member, sample, now_us)
      spent_us = spent_us + 8
    end
    -- The way to a place goes from the nearer end, to find the entry and to mark it.
    local way_us = place and math.min(place, size - place) * node_us or 0
    spent_us = spent_us + 6 + 2 * way_us + each_us + #member * MOVED_BYTE_US
    if place then
      places[#places + 1] = place
    elseif not complete then
      if not hints and pending > FEW_DUE and not (sample and sample.places) then
        return i - 1, places, others, true
      end
      spent_us = spent_us + PASSED_US * size
      if i > 1 and spent_us > most_us then
        return i - 1, places, others, pending > FEW_DUE and hint ~= ABSENT
      end
      others[member] = true
    end
    if hint then
      hints.over = math.max(hints.over, hints.next)
    end
    if i % 16 == 0 then
      -- The entries that were found still have to be marked, which takes as long as finding them.
      local at_us = server_time()
      if spent_us > most_us or at_us + (at_us - began_us) + each_us * i > now_us + most_us then
        return i, places, others, false
      end
    end
  end
  return #members, places, others, false
end

-- Whether a call of a pass has done enough, by what that takes or by the clock.
local function is_slice_over(spent_us, now_us)
  return spent_us > SLICE_US / slowness or server_time() > now_us + SLICE_US
end

-- The keys of what is due, in due order, from a rank on, as many as there is time for. Also tells how many a pass is
-- for.
local function keys_from(rank, pending, now_us)
  local packed, total = {}, math.min(pending, WANTED)
  local count, spent_us, bytes = math.min(READ, FIRST_READ), 0, nil
  repeat
    local found = redis.call('ZRANGE', keys.timeout, rank, math.min(rank + count, total) - 1)
    for _, member in ipairs(found) do
      packed[#packed + 1] = key_of(member)
    end
    rank = rank + #found
    bytes, count = next_read(found, READ)
    spent_us = spent_us + #found * KEY_US + bytes * BYTE_US
  until rank >= total or is_slice_over(spent_us, now_us)
  return {'keys', table.concat(packed), total}
end

-- One slice of a pass, from the end of the list or the place before the last slice. Gives its first place, then of each
-- wanted entry the key and the place, or where none is named all keys of the slice. Entries that others take out of the
-- list meanwhile make it pass over none, as it goes to the front.
local function slice(before, named, now_us)
  local wanted, parts = {}, {}
  for at = 1, #named, 8 do
    wanted[string.sub(named, at, at + 7)] = true
  end
  local size = redis.call('LLEN', keys.envelopes)
  local first = math.min(before or size, size)
  local each_us = #named > 0 and NAMED_US or LISTED_US
  local count, spent_us, bytes = math.min(READ, FIRST_READ), 0, nil
  while first > 0 do
    local last, found = first - 1, {}
    first = math.max(0, first - count)
    local members = redis.call('LRANGE', keys.envelopes, first, last)
    for i, member in ipairs(members) do
      local key = key_of(member)
      if #named == 0 then
        found[i] = key
      elseif wanted[key] then
        found[#found + 1] = key .. struct.pack('<I4', first + i - 1)
      end
    end
    table.insert(parts, 1, table.concat(found))
    bytes, count = next_read(members, READ)
    spent_us = spent_us + #members * each_us + bytes * BYTE_US
    if is_slice_over(spent_us, now_us) then
      break
    end
  end
  return {string.format('%.0f', first), table.concat(parts)}
end
