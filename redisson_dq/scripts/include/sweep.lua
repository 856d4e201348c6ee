-- Sweeps: drops the records whose time is over.
-- KEYS: forget
-- INCLUDE: find, records, remember

-- A call that is for something else drops so many.
local FEW_RECORDS = 20
-- The record of an overdue item that still waits is looked at again after so many ms.
local OVERDUE_MS = 300000

-- Drops so many records at most whose time is over. Gives how many were looked at.
local function sweep(now_ms, most)
  local over = redis.call('ZRANGEBYSCORE', keys.forget, '-inf', now_ms, 'LIMIT', 0, most)
  for _, id in ipairs(over) do
    local record, form = record_of(id)
    if form then
      -- The version that knows the record drops it.
      forget_at(id, now_ms + 3600000)
    elseif not record then
      redis.call('ZREM', keys.forget, id)
    elseif find(id, record.due) then
      live_until(forget_at(id, now_ms + OVERDUE_MS), now_ms)
    else
      drop(id, record)
    end
  end
  return #over
end
