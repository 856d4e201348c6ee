-- Reads what waits in the order of due times.
-- KEYS: timeout
-- INCLUDE: held_members

-- To find a lease takes as long as to look at so many entries.
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

-- From one index to another, or with -1 to the end: members and dues in turn.
local function by_due(first, last)
  local is_held = held_now()
  if not is_held then
    return redis.call('ZRANGE', keys.timeout, first, last, 'WITHSCORES')
  end
  local start, index = 0, 0
  local held = held_members(first / FINDING)
  if held then
    local ranks = {}
    for i, member in ipairs(held) do
      ranks[i] = redis.call('ZRANK', keys.timeout, member)
    end
    start, index = rank_of(first, ranks), first
  end
  local page = {}
  for from = start, redis.call('ZCARD', keys.timeout) - 1, 1000 do
    local found = redis.call('ZRANGE', keys.timeout, from, from + 999, 'WITHSCORES')
    for i = 1, #found, 2 do
      if not is_held(found[i]) then
        if index >= first then
          page[#page + 1], page[#page + 2] = found[i], found[i + 1]
        end
        if index == last then
          return page
        end
        index = index + 1
      end
    end
  end
  return page
end
