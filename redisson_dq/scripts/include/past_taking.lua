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

-- Takes values out of the ready list: of each key the first ones, until as many wait as the argument ahead says. Those of
-- the key at the head of the list stay.
--
-- seen: what is known of values, by their digests. asks: gives the limit of a value, and whether it has had a turn; such a
-- value is always taken. room: how many values without turns may be taken. most: how many are looked at.
function taking.take(marks, head, seen, asks, ahead, room, most)
  marks = taking.located(marks)
  local all, of_key, waiting, taken, places = marks[1], {}, {}, {}, {}
  for _, mark in ipairs(marks) do
    of_key[mark.key] = mark
  end
  local function mark_at(key, before)
    of_key[key] = of_key[key] or {key = key}
    of_key[key].before = before
  end
  mark_at(head, 0)
  local function is_full(key)
    waiting[key] = waiting[key] or past.waiting(key)
    return waiting[key] >= ahead
  end
  local function take(place, value, digest, key)
    taken[#taken + 1] = {value = value, digest = digest, asked = seen[digest]}
    places[#places + 1] = place
    if key then
      waiting[key] = waiting[key] + 1
    end
  end
  -- Values that stayed, of keys of which fewer wait now.
  local kept, keys_kept = {all}, 0
  for key, mark in pairs(of_key) do
    if key ~= past.ALL and key ~= head and not is_full(key) then
      past.walk(mark.before, math.min(past.AT_KEY, all.before - mark.before), function(place, value)
        local digest = digest_of(value)
        local limit = seen[digest] and asks.limit_of(digest, seen[digest].limit)
        if not seen[digest] or limit and limit.turns == key and is_full(key) then
          return false
        elseif limit and limit.turns == key then
          take(place, value, digest, key)
        end
        mark.before = place + 1
      end)
      if mark.before >= all.before then
        of_key[key] = nil
      end
    end
    keys_kept = keys_kept + (of_key[key] and 1 or 0)
  end
  past.walk(all.before, most, function(place, value)
    local digest = digest_of(value)
    if not seen[digest] or #taken >= taking.TAKEN then
      return false
    end
    local limit = asks.limit_of(digest, seen[digest].limit)
    local key = limit and limit.turns ~= '' and limit.turns
    if not key and room < 1 then
      return false
    elseif not key then
      room = room - 1
      take(place, value, digest)
    elseif asks.has_turn(digest) then
      is_full(key)
      take(place, value, digest, key)
    elseif not of_key[key] and is_full(key) and keys_kept <= past.KEYS then
      mark_at(key, place)
      keys_kept = keys_kept + 1
    elseif not of_key[key] then
      is_full(key)
      take(place, value, digest, key)
    end
    all.before = place + 1
  end)
  -- Who comes to the end of a long list is not behind all that has not been looked at, unless many of one key come.
  local last, firsts = {}, {}
  past.walk(math.max(all.before, redis.call('LLEN', keys.ready) - past.LAST), past.LAST, function(place, value)
    local digest = digest_of(value)
    local asked = seen[digest]
    local limit = asked and asks.limit_of(digest, asked.limit)
    local key = limit and limit.turns
    if key and key ~= '' and not of_key[key] and taking.is_free(asked, limit) and not is_full(key) and waiting[key] == 0 then
      last[key] = (last[key] or 0) + 1
      if last[key] == 1 then
        firsts[#firsts + 1] = {place, value, digest, key}
      end
    end
  end)
  for _, first in ipairs(firsts) do
    if last[first[4]] <= taking.FEW then
      take(unpack(first))
    end
  end
  if #places > 0 then
    close_up(places, {}, keys.ready)
  end
  for key, mark in pairs(of_key) do
    local before = 0
    for _, place in ipairs(places) do
      before = before + (place < mark.before and 1 or 0)
    end
    mark.before = mark.before - before
    mark.check = taking.check_at(mark.before)
    if key ~= past.ALL then
      kept[#kept + 1] = mark
    end
  end
  taking.write(kept)
  return taken
end
