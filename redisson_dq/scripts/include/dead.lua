-- Puts values into the dead-letter list.
-- INCLUDE: delivery_record, settle, events
--
--   dead        the values, raw
--   dead_info   id -> when it came, the lengths of the queue's name and of its record, then name, record and value
--   dead_index  digest .. order .. id, all with the score 0
local BURYING = {'DEL', 'EXISTS', 'HSET', 'RPUSH', 'ZADD'}

local function to_dead(id, value, d, reason, now_ms)
  -- It is in no line any more.
  d.order, d.turn = now_ms, nil
  if reason ~= '' then
    d.reason = reason
  end
  local text = record_text(d)
  if redis.call('EXISTS', keys.dead) == 0 then
    -- The records of letters that Java has taken out.
    redis.call('DEL', keys.dead_info, keys.dead_index)
  end
  redis.call('RPUSH', keys.dead, value)
  redis.call('HSET', keys.dead_info, id, string.format('%.0f %d %d ', now_ms, #keys.ready, #text)
    .. keys.ready .. text .. value)
  redis.call('ZADD', keys.dead_index, 0, place(id, d))
  known_by(d, 'd', id, now_ms + DAY_MS, now_ms)
  note_event('dead', '', d, nil, nil, nil, d.reason)
end
