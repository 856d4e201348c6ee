-- Remembers of an item that it was taken out.
-- INCLUDE: remember

-- Notes that an item was taken out, so that it is not reported later as delivered. Returns the time, for live_until.
local function bury(id, record, due, remember_ms, now_ms)
  if record then
    drop(id, record)
  end
  return remember_ms > 0 and forget_at(id, math.max(due, now_ms) + remember_ms) or 0
end
