-- Estimates how much of the envelope list one call may look at, and how long that takes.
--
-- Time is estimated by the cost of each step on the machine of the measurements, in us. In Redis before 7.2 the clock
-- goes on while a script runs, and ends a search sooner if need be. In later Redis, and in Valkey, it does not move.
local ERASING = {'LINDEX', 'LLEN', 'LPOS', 'LRANGE', 'LREM', 'LSET', 'LTRIM'}
-- LREM or LPOS passes an entry. A script reads an entry and looks at it.
local PASSED_US, READ_US = 0.012, 0.27
-- How many entries one call moves at most, and those at the front of the list, which are found at once.
local MOST_MOVED, MOST_IN_ORDER = 2000, 1000
-- Up to this many due entries are moved in calls that each pass over at most half of a long list.
local FEW_MOVED = 100

-- How many times as long this server takes for anything, as the client has seen (scheduling/pace.py).
local slowness = 1

-- The time that finding and moving may take in one call. The way along a long list comes on top of it. However slow the server, a
-- call moves for half as long as this way takes, or most calls would be spent on the way.
local function work_us(size)
  return math.max(math.max(12000, math.min(40000, PASSED_US * size)) / slowness, PASSED_US * size / 2)
end

-- How far one call goes along the list to take entries out, for this number of due entries.
local function way_us(size, pending)
  return math.max(12000, PASSED_US * size / (pending > FEW_MOVED and 1 or 2))
end

-- The longest time of one call.
local function longest_us(size)
  return math.min(100000, work_us(size) + PASSED_US * size)
end

-- How many of these entries one call looks at, beginning with this one.
local function affordable(count, first)
  local most = redis.call('LINDEX', keys.envelopes, 0) == first and MOST_IN_ORDER or MOST_MOVED
  return math.min(count, math.max(100, math.floor(most / slowness)))
end
