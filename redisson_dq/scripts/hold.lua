-- Lets the rest of a transaction happen while all its leases are held. Withholds it when one has ended.
-- KEYS: timeout, leases, fence
-- ARGV: "first" in a transaction or "", the ids
-- RETURN: 1 or 0 of each: held or not
-- COST: O(n log m), n leases, m waiting
-- INCLUDE: clock, held
local _, now_ms = server_time()
local ids = {unpack(ARGV, 2)}
local deadlines, outcomes, all = deadlines_of(ids, now_ms), {}, true
for i, id in ipairs(ids) do
  outcomes[i] = deadlines[i] and held(id, deadlines[i], #ids) and 1 or 0
  all = all and outcomes[i] == 1
end
if not all then
  redis.call('DEL', keys.fence)
elseif ARGV[1] == 'first' then
  -- The last command of the transaction deletes the key. No other client sees it in between.
  redis.call('SET', keys.fence, 1, 'PX', 60000)
end
return outcomes
