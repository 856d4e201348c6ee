-- Finds out by one command whether a queue keeps a history, and whether it has another key. Most queues have neither.
-- INCLUDE: events

-- Reads the history's setting. Returns whether the key is there.
local function begin_events(key, now_ms, who)
  -- A key that is named twice counts twice.
  local beside = redis.call('EXISTS', key, keys.settings, keys.settings)
  if beside > 1 then
    keep_events(now_ms, who)
  end
  return beside % 2 == 1
end
