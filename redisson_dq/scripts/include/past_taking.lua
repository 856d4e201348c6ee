-- Takes the values of other keys behind many of a few keys.
-- INCLUDE: past, digest, close_up

-- NEAR: how far a mark may be off. TAKEN: how many values one call takes. FEW: with more values of one key than this at
-- the end of the list, none of them is taken from there. Lua allows a script 200 local names.
local taking = {NEAR = 200, TAKEN = 100, FEW = 5}

function taking.write(marks)
  local texts = {}
  for i, mark in ipairs(marks) do
    texts[i] = struct.pack('c16>I4c16', mark.key, mark.before, mark.check)
  end
  redis.call('HSET', keys.turns, 'n', table.concat(texts))
end

-- This many values at the head, which are before all marks, were taken.
function taking.note_taken(count)
  local marks = past.read()
  for _, mark in ipairs(marks) do
    mark.before = math.max(0, mark.before - count)
  end
  if #marks > 0 and count > 0 then
    taking.write(marks)
  end
  return marks
end

-- The beginning of the digest of the value before a mark.
function taking.check_at(before)
  local value = before > 0 and redis.call('LINDEX', keys.ready, before - 1)
  return value and string.sub(digest_of(value), 1, 16) or string.rep('0', 16)
end

-- Whether a mark is where it was, or near. Then its place is right.
function taking.is_found(mark)
  for off = 0, mark.before > 0 and taking.NEAR or 0 do
    for _, before in ipairs({mark.before - off, mark.before + off}) do
      if before >= 0 and taking.check_at(before) == mark.check then
        mark.before = before
        return true
      end
    end
  end
  return mark.before == 0
end

-- The marks at their places now, or only that of all keys, at the head, where one of them is lost.
function taking.located(marks)
  for _, mark in ipairs(marks) do
    if not taking.is_found(mark) then
      return {{key = past.ALL, before = 0}}
    end
  end
  return marks[1] and marks or {{key = past.ALL, before = 0}}
end

-- Whether values of a limit may begin in another order than that in which they became ready.
function taking.is_free(asked, limit)
  local function is_by_key(id)
    return string.sub(id, 5) == string.sub(limit.turns, 5)
  end
  return asked.key == '' and not (limit.slots > 0 and is_by_key(limit.id) or limit.tokens > 0 and is_by_key(limit.rate))
end

-- What is known of a value: its digest, what the caller has seen of it, its limit, and its key where that takes turns.
function taking.known(value)
  local digest = digest_of(value)
  local asked = taking.seen[digest]
  local limit = asked and taking.asks.limit_of(digest, asked.limit)
  return digest, asked, limit, limit and limit.turns ~= '' and limit.turns
end

function taking.is_full(key)
  taking.waiting[key] = taking.waiting[key] or past.waiting(key)
  return taking.waiting[key] >= taking.ahead
end

function taking.add(place, value, digest, key)
  taking.values[#taking.values + 1] = {value = value, digest = digest, asked = taking.seen[digest]}
  taking.places[#taking.places + 1] = place
  if key then
    taking.waiting[key] = (taking.waiting[key] or past.waiting(key)) + 1
  end
end

-- Takes values that stayed, of keys of which fewer wait now. Returns how many keys leave values in the list.
function taking.take_stayed(head, all)
  local count = 0
  for key, mark in pairs(taking.marks) do
    if key ~= past.ALL and key ~= head and not taking.is_full(key) then
      past.walk(mark.before, math.min(past.AT_KEY, all.before - mark.before), function(place, value)
        local digest, asked, _, of_key = taking.known(value)
        if not asked or of_key == key and taking.is_full(key) then
          return false
        elseif of_key == key then
          taking.add(place, value, digest, key)
        end
        mark.before = place + 1
      end)
      if mark.before >= all.before then
        taking.marks[key] = nil
      end
    end
    count = count + (taking.marks[key] and 1 or 0)
  end
  return count
end

-- Takes values behind the mark of all keys, and moves that mark. The values of a key of which enough wait stay.
function taking.take_behind(all, keys_kept, room, most)
  past.walk(all.before, most, function(place, value)
    if #taking.values >= taking.TAKEN then
      return false
    end
    local digest, asked, _, key = taking.known(value)
    if not asked or not key and room < 1 then
      return false
    elseif not key then
      room = room - 1
      taking.add(place, value, digest)
    elseif taking.asks.has_turn(digest) then
      taking.add(place, value, digest, key)
    elseif not taking.marks[key] and taking.is_full(key) and keys_kept <= past.KEYS then
      taking.marks[key] = {key = key, before = place}
      keys_kept = keys_kept + 1
    elseif not taking.marks[key] then
      taking.add(place, value, digest, key)
    end
    all.before = place + 1
  end)
end

-- Takes the first values of keys at the end of the list. Who comes to the end of a long list is not behind all that has not
-- been looked at, unless many of one key come.
function taking.take_last(all)
  local last, firsts = {}, {}
  past.walk(math.max(all.before, redis.call('LLEN', keys.ready) - past.LAST), past.LAST, function(place, value)
    local digest, asked, limit, key = taking.known(value)
    if
      key and not taking.marks[key] and taking.is_free(asked, limit)
      and not taking.is_full(key) and taking.waiting[key] == 0
    then
      last[key] = (last[key] or 0) + 1
      if last[key] == 1 then
        firsts[#firsts + 1] = {place, value, digest, key}
      end
    end
  end)
  for _, first in ipairs(firsts) do
    if last[first[4]] <= taking.FEW then
      taking.add(unpack(first))
    end
  end
end

-- Takes values out of the ready list: of each key the first ones, until as many wait as the argument ahead says. Those of
-- the key at the head of the list stay.
--
-- seen: what is known of values, by their digests. asks: gives the limit of a value, and whether it has had a turn; such a
-- value is always taken. room: how many values without turns may be taken. most: how many are looked at.
function taking.take(marks, head, seen, asks, ahead, room, most)
  taking.seen, taking.asks, taking.ahead = seen, asks, ahead
  -- How many of each key wait, the values that are taken, and their places.
  taking.waiting, taking.values, taking.places = {}, {}, {}
  marks = taking.located(marks)
  local all = marks[1]
  taking.marks = {}
  for _, mark in ipairs(marks) do
    taking.marks[mark.key] = mark
  end
  taking.marks[head] = {key = head, before = 0}
  taking.take_behind(all, taking.take_stayed(head, all), room, most)
  taking.take_last(all)
  if #taking.places > 0 then
    close_up(taking.places, {}, keys.ready)
  end
  local kept = {all}
  for key, mark in pairs(taking.marks) do
    local before = 0
    for _, place in ipairs(taking.places) do
      before = before + (place < mark.before and 1 or 0)
    end
    mark.before = mark.before - before
    mark.check = taking.check_at(mark.before)
    if key ~= past.ALL then
      kept[#kept + 1] = mark
    end
  end
  taking.write(kept)
  return taking.values
end
