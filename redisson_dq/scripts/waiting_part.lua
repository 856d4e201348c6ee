-- A part of the waiting items, in the order of offers.
-- KEYS: timeout, envelopes, leases
-- ARGV: the cursor (include/walk.lua)
-- RETURN: the cursor for the next call, or ''; the members
-- COST: O(m), m waiting; some 12 ms at most
-- INCLUDE: walk
local members, met = {}, {}
local cursor = walk(ARGV[1], function(member)
  if not met[member] then
    members[#members + 1], met[member] = member, true
  end
end)
return {cursor, members}
