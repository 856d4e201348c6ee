-- Walks waiting entries in the order of offers. Where many wait, one call walks a part, and the next call goes on there.
-- KEYS: timeout, envelopes, leases
-- INCLUDE: clock, held_now, some_alone, reads
--
-- Between two calls others offer, move and remove. So a call tells the next one which entries it met last. The next one
-- goes on behind the latest of them that still stands. Whatever stands all the time is met.
--
--   cursor   1 in the zset, 0 in the list; the index of the next entry, and how many are left, in 4 bytes each; the names of
--            the last entries, the latest first. Empty at the beginning; 'whole' for everything in one call.

-- The time for an entry in us, and for taking one out. The time for a call.
local MET_US, OUT_US, PART_US = 1, 25, 12000
-- So many entries are read at once. So many are remembered, and looked for so far around their index, in so many bytes.
local READ_AT_ONCE, LAST_MET, NEAR, NEAR_BYTES = 500, 8, 50000, 8000000
-- A name is the beginning of an entry, with its id. Shorter ones are no entries, but may stand among them.
local NAME_SIZE = 11

local function name_of(member)
  return string.sub(member, 1, NAME_SIZE) .. string.rep('\0', NAME_SIZE - #member)
end

local function cursor_of(text)
  if #text < 9 then
    return {alone = false, at = 0, last = {}}
  end
  local alone, at, left = struct.unpack('<BI4I4', text)
  local last = {}
  for first = 10, #text, NAME_SIZE do
    last[#last + 1] = string.sub(text, first, first + NAME_SIZE - 1)
  end
  return {alone = alone == 1, at = at, left = left, last = last}
end

-- out: how many of the entries before the cursor are taken out after this. stayed: those that are not, as they were met.
local function text_of(cursor, stayed, out)
  local last = {}
  for i = #stayed, math.max(1, #stayed - LAST_MET + 1), -1 do
    last[#last + 1] = name_of(stayed[i])
  end
  for i = 1, math.min(LAST_MET - #last, #cursor.last) do
    last[#last + 1] = cursor.last[i]
  end
  return struct.pack('<BI4I4', cursor.alone and 1 or 0, cursor.at - out, cursor.left) .. table.concat(last)
end

local function entries(alone, first, last)
  if alone then
    return redis.call('ZRANGE', keys.timeout, first, last)
  end
  return redis.call('LRANGE', keys.envelopes, first, last)
end

-- Puts the cursor behind the latest entry of its last ones that still stands near, or at the beginning if none does.
local function resume(cursor, size)
  if #cursor.last == 0 then
    return
  end
  local before = cursor.at > 0 and entries(cursor.alone, cursor.at - 1, cursor.at - 1)[1]
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
        local near = entries(cursor.alone, start, first + count - 1)
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

-- Calls visit with each entry and, of the list, its place. Entries of the list come again in the zset, if that is walked.
-- It gives 'end' for an end, or 'out' for an entry that the script takes out after the walk. Gives the cursor for the next
-- call, or '' if there is none. part_us: the time for a call, if not the ordinary one.
local function walk(text, visit, part_us)
  local cursor, whole = cursor_of(text), text == 'whole'
  part_us = part_us or PART_US
  local us, until_us, over, count = 0, server_time() + 2 * part_us, false, FIRST_READ
  while true do
    local listed, size = redis.call('LLEN', keys.envelopes), redis.call('ZCARD', keys.timeout)
    if cursor.alone and not some_alone(listed, size) then
      return ''
    end
    size = cursor.alone and size or listed
    cursor.left = cursor.left or size
    resume(cursor, size)
    local is_held = cursor.alone and held_now()
    local stayed, out = {}, 0
    while cursor.left > 0 and not over do
      local page = entries(cursor.alone, cursor.at, cursor.at + math.min(count, cursor.left) - 1)
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
          us = us + OUT_US + (place and 0.00015 * math.min(place, size - place) or 0)
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
      cursor.at, cursor.left = cursor.at + met, #page == 0 and 0 or cursor.left - met
      count = select(2, next_read(page, READ_AT_ONCE))
      over = over or not whole and server_time() > until_us
    end
    if over then
      return text_of(cursor, stayed, out)
    elseif cursor.alone then
      return ''
    end
    cursor = {alone = true, at = 0, last = {}}
  end
end
