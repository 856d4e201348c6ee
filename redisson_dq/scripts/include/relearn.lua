-- Moves the record of an entry along with it.
-- KEYS: leases, deliveries, histories, history_ends
-- INCLUDE: delivery_record, unlearn, leave

-- The entry has another due time now. A lease that has ended is no lease any more.
local function relearn(id, due, now_ms)
  local d = parsed(redis.call('HGET', keys.deliveries, id))
  if d then
    local ended = redis.call('ZSCORE', keys.leases, id)
    unlearn(id)
    if ended then
      d.crashes = d.crashes + 1
    elseif d.due > 0 then
      d.due = due
    end
    leave(id, d, due, now_ms)
  end
end
