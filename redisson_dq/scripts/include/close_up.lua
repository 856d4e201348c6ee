-- Takes entries out of the envelope list, or another one.

-- A script may have 200 locals, so the others are inside.
local close_up
do
  local ERASED = 'redisson_dq: erased'

  -- How many of these places, which are sorted, are counted from the front. LREM goes along the list from the front to the
  -- last of them, and from the end to the first of the others. So it passes over all but the widest gap.
  local function before_the_gap(places, size)
    local before, widest = 0, places[1]
    for i, place in ipairs(places) do
      local gap = (places[i + 1] or size) - place - 1
      if gap > widest then
        before, widest = i, gap
      end
    end
    return before
  end

  -- Takes out the entries that follow each other without a gap at either end, without a look at the others. Returns the
  -- places of those between, as they are then, and the size of the list.
  local function trimmed(list, places, size)
    local first, last = 1, #places
    while first <= last and places[first] == first - 1 do
      first = first + 1
    end
    while first <= last and places[last] == size - 1 - (#places - last) do
      last = last - 1
    end
    local front, back, between = first - 1, #places - last, {}
    if front + back > 0 then
      redis.call('LTRIM', list, front, -1 - back)
    end
    for i = first, last do
      between[#between + 1] = places[i] - front
    end
    return between, size - front - back
  end

  -- Takes the entries at these places out, and these members wherever they are.
  function close_up(places, members, list)
    list = list or keys.envelopes
    table.sort(places)
    local between, size = trimmed(list, places, redis.call('LLEN', list))
    -- Marked first, as each LREM moves the places after it.
    for _, place in ipairs(between) do
      redis.call('LSET', list, place, ERASED)
    end
    for member in pairs(members) do
      redis.call('LREM', list, 1, member)
    end
    local front = #between > 0 and before_the_gap(between, size) or 0
    if front > 0 then
      redis.call('LREM', list, front, ERASED)
    end
    if #between > front then
      redis.call('LREM', list, front - #between, ERASED)
    end
  end
end
