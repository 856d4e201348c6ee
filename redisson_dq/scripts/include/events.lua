-- Notes what happens to items, where the queue keeps a history.
-- KEYS: events
--
--   settings  history -> how many events are kept, a space, for how many ms
--   events    a stream. An entry of it is one event: e what happened, k the key of the item (or ""), i the id of its entry,
--             v the digest of its value where it has no key, w the process that did it, l the lease, n which delivery,
--             d when it is due in epoch ms, r the reason. The first half of the entry's id is the time
--
-- A history is never a reason to fail: where it cannot be written, nothing is noted.

-- How many events are kept (nil: no history). A script may have 200 locals, so the others are inside.
local events_kept
local keep_events
local note_event
do
  -- The beginning of a context where the item has a name (named.lua).
  local NAMED_SO = '{"redisson_dq.item":"'
  -- The most bytes of a reason that are noted.
  local REASON_SIZE = 200
  -- For how many ms events are kept; the time and the process of this call; the id of the last event.
  local kept_ms, now, by, last_ms, number

  -- Whether there is a history: reads the setting, or the error that has come in its place.
  function keep_events(text, now_ms, who)
    events_kept, kept_ms = string.match(type(text) == 'string' and text or '', '^(%d+) (%d+)$')
    now, by = now_ms, who or ''
    return events_kept
  end

  -- Finds the last event, and drops those that are too old. Without new ones, all of them are too old at last.
  local function open_events()
    local last = redis.pcall('XREVRANGE', keys.events, '+', '-', 'COUNT', 1)
    local ms, sequence = string.match(last[1] and last[1][1] or '', '^(%d+)-(%d+)$')
    last_ms, number = tonumber(ms or 0), tonumber(sequence or 0)
    if last.err then
      events_kept = nil
    elseif ms then
      redis.pcall('XTRIM', keys.events, 'MINID', string.format('%.0f', math.max(0, now - kept_ms)))
      redis.pcall('PEXPIRE', keys.events, kept_ms)
    end
  end

  -- The id of the entry with which a named item was offered, and its key.
  local function name_in(context)
    if string.sub(context, 1, #NAMED_SO) ~= NAMED_SO then
      return nil
    end
    local is_json, told = pcall(cjson.decode, context)
    local text = is_json and told['redisson_dq.item']
    local hex, key = string.match(type(text) == 'string' and text or '', '^(%x+) %d+ (.+)$')
    return hex and string.gsub(hex, '%x%x', function(byte)
      return string.char(tonumber(byte, 16))
    end), key
  end

  -- Notes one event. id: of the entry, or ''. d: the record of the delivery, if there is one. value: where there is none.
  function note_event(what, id, d, value, due, lease, reason)
    if not events_kept then
      return
    elseif not last_ms then
      open_events()
      if not events_kept then
        return
      end
    end
    local item, key
    if d then
      item, key = name_in(d.context)
    end
    local digest = not key and (d and d.digest or value and string.sub(redis.sha1hex(value), 1, 32)) or ''
    if now > last_ms then
      last_ms, number = now, 0
    else
      -- The server's clock was set back, or this is not the first event of its millisecond.
      number = number + 1
    end
    local event_id = string.format('%.0f-%.0f', last_ms, number)
    redis.pcall('XADD', keys.events, 'MAXLEN', events_kept, event_id, 'e', what, 'k', key or '', 'i', item or id, 'v',
      digest, 'w', by, 'l', lease or '', 'n', d and d.attempt or 0, 'd',
      due and string.format('%.0f', tonumber(due) or 0) or '', 'r', string.sub(reason or '', 1, REASON_SIZE))
  end
end
