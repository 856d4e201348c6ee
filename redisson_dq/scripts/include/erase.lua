-- Takes entries out of the envelope list, each once.
-- KEYS: envelopes
-- INCLUDE: cost, cut, search
--
-- Our ids grow with the offers, Java's are random and stand between them. So a search may miss an entry of Java's, or
-- one that a random id misled it about. It may also miss one from before a step back of the clock. These are scanned
-- for, or left to LREM if there are few.
local function erase(members, now_us)
  local wanted, left = {}, #members
  for _, member in ipairs(members) do
    wanted[member] = true
  end
  local front = 0
  for _, member in ipairs(redis.call('LRANGE', keys.envelopes, 0, #members - 1)) do
    if not wanted[member] then
      break
    end
    wanted[member] = nil
    front = front + 1
  end
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
    for start = 0, size - 1, 1000 do
      for i, member in ipairs(redis.call('LRANGE', keys.envelopes, start, start + 999)) do
        if wanted[member] then
          places[#places + 1] = start + i - 1
          wanted[member] = nil
          left = left - 1
        end
      end
      if left == 0 then
        break
      end
    end
    -- What a scan did not find is not there.
    wanted = {}
  end
  cut(places, wanted)
end
