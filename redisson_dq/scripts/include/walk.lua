-- Walks waiting entries in the order of offers. Where many wait, one call walks a part, and the next call goes on there.
-- INCLUDE: clock, find, held_now, some_alone, reads
--
-- Between two calls others offer, move and remove, and change due times. An entry that stays at one place all the time
-- is met, and met once.
--
-- The list is in the order of offers. So a call passes on which entries it met last. The next call goes on after the
-- latest of them that is still there.
--
-- The zset is in the order of due times. So a call passes on the score of the entry that it met last, and the beginning
-- of it. The next call goes on after this place, whether the entry is still there or not. The walk ends at the place
-- that was the last one at its beginning.
--
--   cursor   0, the index of the next entry, and how many are left, in 4 bytes each; the names of the last entries, the
--            latest first. In the zset: 1, the index, and the two places. Empty at the beginning; 'whole' for everything
--            in one call.

-- The time for an entry in us, and for taking one out. The time for a call.
local MET_US, OUT_US, PART_US = 1, 25, 12000
-- How many entries are read at once. How many are remembered, how far around their index they are looked for, and in
-- how many bytes.
local READ_AT_ONCE, LAST_MET, NEAR, NEAR_BYTES = 500, 8, 50000, 8000000
-- A name is the beginning of an entry, with its id. Shorter ones are no entries, but may be among them.
local NAME_SIZE = 11
-- How many bytes decide which of the entries with one score comes first.
local PLACE_SIZE = 64

local function name_of(member)
  return string.sub(member, 1, NAME_SIZE) .. string.rep('\0', NAME_SIZE - #member)
end

local function spot_of(member, score)
  return {score = score, text = string.sub(member, 1, PLACE_SIZE)}
end

-- Whether a text comes after another one, as Redis orders members.
local function text_behind(text, other)
  local order = compare(text, other)
  return order > 0 or order == 0 and #text > #other
end

local function is_behind(place, other)
  local score, other_score = tonumber(place.score), tonumber(other.score)
  if score ~= other_score then
    return score > other_score
  end
  return text_behind(place.text, other.text)
end

local function text_of_place(place)
  return place and struct.pack('Bc0Bc0', #place.score, place.score, #place.text, place.text) or ''
end

local function place_in(text, at)
  if at > #text then
    return nil
  end
  local score, place, behind = struct.unpack('Bc0Bc0', text, at)
  return {score = score, text = place}, behind
end

local function cursor_of(text)
  if #text < 9 then
    return {alone = false, at = 0, last = {}}
  end
  local alone, at, left = struct.unpack('<BI4I4', text)
  if alone == 1 then
    local final, behind = place_in(text, 10)
    return {alone = true, at = at, final = final, met = place_in(text, behind)}
  end
  local last = {}
  for first = 10, #text, NAME_SIZE do
    last[#last + 1] = string.sub(text, first, first + NAME_SIZE - 1)
  end
  return {alone = false, at = at, left = left, last = last}
end

-- out: how many of the entries before the cursor are taken out after this. stayed: those that are not, as they were met.
local function text_of(cursor, stayed, out)
  if cursor.alone then
    return struct.pack('<BI4I4', 1, cursor.at - out, 0) .. text_of_place(cursor.final) .. text_of_place(cursor.met)
  end
  local last = {}
  for i = #stayed, math.max(1, #stayed - LAST_MET + 1), -1 do
    last[#last + 1] = name_of(stayed[i])
  end
  for i = 1, math.min(LAST_MET - #last, #cursor.last) do
    last[#last + 1] = cursor.last[i]
  end
  return struct.pack('<BI4I4', 0, cursor.at - out, cursor.left) .. table.concat(last)
end

-- Puts the cursor of the list after the latest of its last entries that is still near, or at the beginning if none is.
local function resume_in_list(cursor, size)
  if #cursor.last == 0 then
    return
  end
  local before = cursor.at > 0 and redis.call('LINDEX', keys.envelopes, cursor.at - 1)
  if before and name_of(before) == cursor.last[1] then
    return
  end
  local age = {}
  for i = #cursor.last, 1, -1 do
    age[cursor.last[i]] = i
  end
  local from, distance, count, bytes = cursor.at, 0, FIRST_READ, 0
  while distance < NEAR and bytes < NEAR_BYTES do
    local latest, least = nil, READ_AT_ONCE
    for _, first in ipairs({from - distance - count, from + distance}) do
      local start = math.max(0, first)
      if first + count > start and start < size then
        local near = redis.call('LRANGE', keys.envelopes, start, first + count - 1)
        for i, member in ipairs(near) do
          local found = age[name_of(member)]
          if found and (not latest or found < latest) then
            latest, cursor.at = found, start + i
          end
        end
        local read, next_count = next_read(near, READ_AT_ONCE)
        bytes, least = bytes + read, math.min(least, next_count)
      end
    end
    if latest then
      return
    end
    distance, count = distance + count, least
  end
  cursor.at, cursor.left, cursor.last = 0, size, {}
end

-- Puts the cursor of the zset after the place that was met last. Of entries with one score it halves the way.
local function resume_in_zset(cursor)
  if not cursor.met then
    return
  end
  local before = cursor.at > 0 and redis.call('ZRANGE', keys.timeout, cursor.at - 1, cursor.at - 1, 'WITHSCORES') or {}
  if before[2] == cursor.met.score and string.sub(before[1], 1, PLACE_SIZE) == cursor.met.text then
    return
  end
  local first = redis.call('ZCOUNT', keys.timeout, '-inf', '(' .. cursor.met.score)
  local count = redis.call('ZCOUNT', keys.timeout, cursor.met.score, cursor.met.score)
  cursor.at = bisect(first, first + count, function(rank)
    local member = redis.call('ZRANGE', keys.timeout, rank, rank)[1]
    return text_behind(string.sub(member, 1, PLACE_SIZE), cursor.met.text)
  end)
end

-- The next entries, with their scores in the zset. None at the end.
local function next_page(cursor, count)
  local page, scores = {}, {}
  if cursor.alone then
    local found = redis.call('ZRANGE', keys.timeout, cursor.at, cursor.at + count - 1, 'WITHSCORES')
    for i = 1, #found, 2 do
      if is_behind(spot_of(found[i], found[i + 1]), cursor.final) then
        break
      end
      page[#page + 1], scores[#scores + 1] = found[i], found[i + 1]
    end
  elseif cursor.left > 0 then
    page = redis.call('LRANGE', keys.envelopes, cursor.at, cursor.at + math.min(count, cursor.left) - 1)
  end
  return page, scores
end

-- Calls visit with each entry and, of the list, its place. Entries of the list come again in the zset, if that is
-- walked. It gives 'end' for an end, or 'out' for an entry that the script takes out after the walk. Returns the cursor
-- for the next call, or '' if there is none. part_us: the time for a call, if not the ordinary one.
local function walk(text, visit, part_us)
  local cursor, whole = cursor_of(text), text == 'whole'
  part_us = part_us or PART_US
  local us, until_us, over, count = 0, server_time() + 2 * part_us, false, FIRST_READ
  while true do
    local listed, size = redis.call('LLEN', keys.envelopes), redis.call('ZCARD', keys.timeout)
    if not cursor.alone then
      cursor.left = cursor.left or listed
      resume_in_list(cursor, listed)
    elseif not some_alone(listed, size) then
      return ''
    elseif cursor.final then
      resume_in_zset(cursor)
    else
      local final = redis.call('ZRANGE', keys.timeout, -1, -1, 'WITHSCORES')
      cursor.final = spot_of(final[1], final[2])
    end
    local is_held = cursor.alone and held_now()
    local stayed, out, ended = {}, 0, false
    while not ended and not over do
      local page, scores = next_page(cursor, count)
      local met = 0
      for i, member in ipairs(page) do
        met = i
        local place, answer = not cursor.alone and cursor.at + i - 1 or nil, nil
        if not (is_held and is_held(member)) then
          answer = visit(member, place)
        end
        if answer == 'end' then
          return ''
        elseif answer == 'out' then
          out = out + 1
          -- To mark an entry, Redis goes along the list from its nearer end.
          us = us + OUT_US + (place and 0.00015 * math.min(place, listed - place) or 0)
        else
          stayed[#stayed + 1] = member
        end
        -- A visit looks at the bytes again.
        us = us + MET_US + 2 * BYTE_US * #member
        over = not whole and us > part_us
        if over then
          break
        end
      end
      if met > 0 then
        cursor.at = cursor.at + met
        if cursor.alone then
          cursor.met = spot_of(page[met], scores[met])
        else
          cursor.left = cursor.left - met
        end
      end
      ended = #page == 0
      count = select(2, next_read(page, READ_AT_ONCE))
      over = not ended and (over or not whole and server_time() > until_us)
    end
    if over then
      return text_of(cursor, stayed, out)
    elseif cursor.alone then
      return ''
    end
    cursor = {alone = true, at = 0}
  end
end
