-- Takes entries out of the envelope list, each once.
-- KEYS: envelopes
-- INCLUDE: cost, cut, search, reads
--
-- Our ids grow with the offers, Java's are random and stand between them. So a search may miss an entry of Java's, or
-- one that a random id misled it about. It may also miss one from before a step back of the clock. These are scanned
-- for, or left to LREM if there are few.
local READ_AT_ONCE = 1000

local function erase(members, now_us)
  local wanted, left = {}, #members
  for _, member in ipairs(members) do
    wanted[member] = true
  end
  local front, count = 0, FIRST_READ
  repeat
    local found = redis.call('LRANGE', keys.envelopes, front, math.min(front + count, #members) - 1)
    local met = 0
    while wanted[found[met + 1]] do
      met = met + 1
      wanted[found[met]] = nil
    end
    front = front + met
    count = select(2, next_read(found, READ_AT_ONCE))
  until met < #found or #found == 0 or front == #members
  if front > 0 then
    redis.call('LTRIM', keys.envelopes, front, -1)
    left = left - front
  end
  if left == 0 then
    return
  end

  local size = redis.call('LLEN', keys.envelopes)
  local _, way = cost_of_erasing(left, size, offered(members[#members], now_us))
  local places = {}
  if way == 'search' then
    local sample = sample_of(left, size, now_us)
    for member in pairs(wanted) do
      local place = place_of(member, sample, now_us)
      if place then
        places[#places + 1] = place
        wanted[member] = nil
        left = left - 1
      end
    end
  end
  if way == 'scan' or way == 'search' and left > FEW then
    local start = 0
    count = FIRST_READ
    while left > 0 and start < size do
      local found = redis.call('LRANGE', keys.envelopes, start, start + count - 1)
      for i, member in ipairs(found) do
        if wanted[member] then
          places[#places + 1] = start + i - 1
          wanted[member] = nil
          left = left - 1
        end
      end
      start = start + #found
      count = select(2, next_read(found, READ_AT_ONCE))
    end
    -- What a scan did not find is not there.
    wanted = {}
  end
  cut(places, wanted)
end
