-- Reads waiting entries in the order of offers: the list, then the lean entries of the zset, by due times.
-- INCLUDE: envelope, held_now, by_due, some_alone, ranked, reads

-- Whether an entry is only in the zset, where the list has others.
local function is_lean(member)
  if string.byte(member, 1) ~= 9 then
    return false
  end
  local _, id = unwrap(member)
  return id and #id == 9
end

-- The entries from one index to another, or with -1 to the end. Where the list is empty, the zset is read as it is;
-- else the lean entries are picked out of it. With part, the page ends after a number of bytes. Also returns whether it
-- ended so.
local function waiting_page(first, last, part)
  local listed, size = redis.call('LLEN', keys.envelopes), redis.call('ZCARD', keys.timeout)
  if listed == 0 then
    local alone, found, is_cut = {}, by_due(first, last, part)
    for i = 1, #found, 2 do
      alone[#alone + 1] = found[i]
    end
    return alone, is_cut
  end
  if last == -1 then
    last = listed + size
  end
  local page = new_page(first, first, last, part)
  if part then
    each_read(first, math.min(last, listed - 1), last, 1, function(from, till)
      return redis.call('LRANGE', keys.envelopes, from, till)
    end, page.add)
  else
    page.entries = redis.call('LRANGE', keys.envelopes, first, last)
  end
  if not page.is_cut and last >= listed and some_alone(listed, size) then
    page.index = listed
    each_ranked(0, size - 1, function(member)
      return is_lean(member) and page.add(member)
    end)
  end
  return page.entries, page.is_cut
end

-- The last of those that are only in the zset, by due time, or nil.
local function last_lean()
  local listed, size = redis.call('LLEN', keys.envelopes), redis.call('ZCARD', keys.timeout)
  local is_held = held_now()
  local rank, count = size - 1, FIRST_READ
  local last = some_alone(listed, size) and 0 or size
  while rank >= last do
    local members = redis.call('ZRANGE', keys.timeout, math.max(0, rank - count + 1), rank)
    for i = #members, 1, -1 do
      if listed == 0 and not (is_held and is_held(members[i])) or is_lean(members[i]) then
        return members[i]
      end
    end
    rank = rank - #members
    count = select(2, next_read(members, RANKED_AT_ONCE))
  end
  return nil
end
