-- Moves the record of an entry along with it.
-- INCLUDE: delivery_record, unlearn, leave, remember

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

-- An item that was due at a time is due at another one. The item has the due time of an entry that waits for nothing
-- else: is_its_own. A parked one may come before its time.
local function put_off(item, record, old, due, is_its_own, remember_ms, now_ms)
  if is_its_own then
    record = record or {state = 'w', latest = 0, duplicate = 0, key = ''}
    if record.latest > 0 then
      record.latest = record.latest - old + due
    end
    record.due = due
  end
  if record then
    remember(item, record, remember_ms, now_ms)
    live_until(forget_at(item, math.max(due, redis.call('ZSCORE', keys.forget, item))), now_ms)
  end
end
