-- Reads what waits in the order of due times.
-- KEYS: timeout
-- INCLUDE: held_now

-- From one index to another, or with -1 to the end: members and dues in turn.
local function by_due(first, last)
  local is_held = held_now()
  if not is_held then
    return redis.call('ZRANGE', keys.timeout, first, last, 'WITHSCORES')
  end
  local page, index = {}, 0
  for start = 0, redis.call('ZCARD', keys.timeout) - 1, 1000 do
    local found = redis.call('ZRANGE', keys.timeout, start, start + 999, 'WITHSCORES')
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
