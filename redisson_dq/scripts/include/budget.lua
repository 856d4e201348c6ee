-- Tells how much of the envelope list one call may look at.
-- KEYS: timeout, envelopes
-- INCLUDE: cost, search

-- How many times as long this server takes for anything, as the client has seen (scheduling/pace.py).
local slowness = 1

local function slow_down(times)
  slowness = times
end

-- What one transfer may take, in us: 15 ms up to 100,000 waiting, 40 ms from 350,000 on. Each call goes through the
-- list once to close its gaps. So calls that were shorter would move less and less in the rest of their time.
local function short_budget(size)
  return (15000 + math.min(25000, math.max(0, 0.1 * (size - 100000)))) / slowness
end

-- What a call that takes for itself may take. It gets nothing from a short one where the list has to be scanned.
local function long_budget(size, ours)
  return math.max(15000, math.min(80000, ours and 0.4 * size - 25000 or 0.54 * size))
end

-- How many of so many entries one call may take out of the list, the first of them being this one.
local function affordable(count, first, now_us, budget)
  if count <= 100 then
    return count
  end
  local size = redis.call('LLEN', keys.envelopes)
  if redis.call('LINDEX', keys.envelopes, 0) == first then
    return math.min(count, math.max(100, math.floor(1000 / slowness)))
  end
  local ours = offered(first, now_us)
  for _, tried in ipairs({5000, 3000, 2000, 1500, 1000, 700, 500, 300, 200, 100}) do
    local fits = math.min(count, tried)
    if 2 * fits + cost_of_erasing(fits, size, ours) <= budget(size, ours) or tried == 100 then
      return fits
    end
  end
end
