-- Reads waiting entries in the order of due times.
-- INCLUDE: held_members, ranked, reads

-- Finding a lease takes as long as looking at this many entries.
local FINDING = 8

-- The rank of the entry with this index among those that are not held, where the entries of these ranks are.
local function rank_of(index, held)
  table.sort(held)
  for _, rank in ipairs(held) do
    if rank > index then
      break
    end
    index = index + 1
  end
  return index
end

-- A page of entries, from one index on up to another. index: that of the next entry. With part, it ends after a number of
-- bytes, and is_cut. Its method add gives true at the end.
local function new_page(index, first, last, part)
  local page, bytes = {entries = {}, index = index, is_cut = false}, 0
  function page.add(member, due)
    if page.index >= first then
      bytes = bytes + #member
      page.is_cut = part and #page.entries > 0 and bytes > MOST_BYTES
      if page.is_cut then
        return true
      end
      page.entries[#page.entries + 1] = member
      page.entries[#page.entries + 1] = due
    end
    page.index = page.index + 1
    return page.index == last + 1
  end
  return page
end

-- From one index to another, or with -1 to the end: members and dues in turn. With part, the page ends after a number
-- of bytes. Also returns whether it ended so.
local function by_due(first, last, part)
  local is_held = held_now()
  if last >= 0 and last < first then
    return {}, false
  elseif not (is_held or part) then
    return redis.call('ZRANGE', keys.timeout, first, last, 'WITHSCORES'), false
  end
  local start, index = first, first
  if is_held then
    local held = held_members(math.floor(first / FINDING))
    if held then
      local ranks = {}
      for i, member in ipairs(held) do
        ranks[i] = redis.call('ZRANK', keys.timeout, member)
      end
      start = rank_of(first, ranks)
    else
      start, index = 0, 0
    end
  end
  local page = new_page(index, first, last, part)
  each_ranked(start, redis.call('ZCARD', keys.timeout) - 1, function(member, due)
    return not (is_held and is_held(member)) and page.add(member, due)
  end)
  return page.entries, page.is_cut
end
