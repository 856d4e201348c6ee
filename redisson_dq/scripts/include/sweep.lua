-- Sweeps: drops the records whose time is over.
-- KEYS: forget
-- INCLUDE: find, records, remember

-- Drops a few records whose time is over. One of an overdue item that still waits is looked at again in a minute.
local function sweep(now_ms)
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', keys.forget, '-inf', now_ms, 'LIMIT', 0, 20)) do
    local record, form = record_of(id)
    if form then
      -- The version that knows the record drops it.
      forget_at(id, now_ms + 3600000)
    elseif not record then
      redis.call('ZREM', keys.forget, id)
    elseif find(id, record.due) then
      forget_at(id, now_ms + 60000)
    else
      drop(id, record)
    end
  end
end
