-- Tells how entries are best taken out of the envelope list, and what that costs.
-- INCLUDE: search
--
-- The list is Redisson's: in offer order, without an index. What fell due in offer order stands at its front and is
-- cut off. For the others there are three ways, and their costs decide, in us:
--
--   one by one   LREM of each                                       0.008 n m          n entries out of m
--   by search    a guess between two ids of a sample, one LREM      11 n + 0.05 m      up to 100,000 entries
--   by scan      every entry is looked at, one LREM                 3.5 n + 0.27 m
local ERASING = {'LINDEX', 'LLEN', 'LRANGE', 'LREM', 'LSET', 'LTRIM'}
-- So many LREMs cost as much as one scan.
local FEW = 32

-- What it costs when nothing stands at the front, and which way is the cheapest. ours: whether a search can find them.
local function cost_of_erasing(count, size, ours)
  local each, scan = 0.008 * count * size, 3.5 * count + 0.27 * size
  -- The longer the list, the longer the way to a place in it.
  local sampled = math.min(SHARE * count, size / SPARSE)
  local search = (11 + size / 80000) * count + (1.5 + size / 150000) * sampled + 0.02 * size
  local least = math.min(each, scan, ours and search or scan)
  return least, least == each and 'each' or least == scan and 'scan' or 'search'
end
