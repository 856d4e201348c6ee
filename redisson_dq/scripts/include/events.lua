-- Notes what happens to items, where the queue keeps a history.
-- INCLUDE: clock, item_name
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
  -- The most bytes of a reason that are noted.
  local REASON_SIZE = 200
  -- Another program may have written the setting.
  local LONGEST_SETTING, MOST_EVENTS, LONGEST_MS = 40, 50000, 30 * 86400000
  -- Events that are further ahead of the clock than this, in ms, are dropped. These many events and bytes before them stay.
  local AHEAD, STAYING, STAYING_BYTES = 86400000, 1000, 1000000
  -- For how many ms events are kept; the time and the process of this call; the id of the last event.
  local kept_ms, now, by, last_ms, number

  -- Whether there is a history. The argument text is the setting, where the script has read it.
  function keep_events(now_ms, who, text)
    if text == nil then
      text = redis.pcall('HGET', keys.settings, 'history')
    end
    local short = type(text) == 'string' and #text <= LONGEST_SETTING and text or ''
    local count, ms = string.match(short, '^(%d+) (%d+)$')
    events_kept = count and math.min(tonumber(count), MOST_EVENTS)
    kept_ms = count and math.min(tonumber(ms), LONGEST_MS)
    now, by = now_ms, who or ''
    return events_kept
  end

  local function add(fields)
    local id = string.format('%.0f-%.0f', last_ms, number)
    return redis.pcall('XADD', keys.events, 'MAXLEN', events_kept, id, unpack(fields))
  end

  -- Drops events that are far ahead of the clock, as it was wrong or another program wrote them. No stream accepts an id
  -- before one that it had, so a new one begins.
  local function drop_ahead()
    local staying, bytes, before = {}, 0, string.format('%.0f', now)
    while #staying < STAYING and bytes < STAYING_BYTES do
      local event = redis.pcall('XREVRANGE', keys.events, before, '-', 'COUNT', 1)[1]
      if not event or #event[2] ~= 18 then
        break
      end
      for _, word in ipairs(event[2]) do
        bytes = bytes + #word
      end
      staying[#staying + 1], before = event, string.format('(%s', event[1])
    end
    redis.pcall('UNLINK', keys.events)
    for i = #staying, 1, -1 do
      redis.pcall('XADD', keys.events, staying[i][1], unpack(staying[i][2]))
    end
  end

  -- Adds the first event of this call, and drops those that are too old. Without new ones, all of them are too old at last.
  local function add_first(fields)
    -- Calls of one millisecond have ids in their order.
    last_ms, number = now, server_time() % 1000 * 10000
    local reply = add(fields)
    if type(reply) == 'table' then
      -- The server's clock was set back, calls had one time, or another program has written.
      local last = redis.pcall('XREVRANGE', keys.events, '+', '-', 'COUNT', 1)
      local ms, sequence = string.match(last[1] and last[1][1] or '', '^(%d+)-(%d+)$')
      if ms and tonumber(ms) > now + AHEAD then
        drop_ahead()
      elseif ms then
        last_ms, number = tonumber(ms), tonumber(sequence) + 1
        if number > 2 ^ 50 then
          -- A number holds no such sequence.
          last_ms, number = last_ms + 1, 0
        end
      end
      reply = add(fields)
    end
    if type(reply) == 'table' then
      events_kept = nil
    else
      redis.pcall('XTRIM', keys.events, 'MINID', string.format('%.0f', math.max(0, now - kept_ms)))
      redis.pcall('PEXPIRE', keys.events, kept_ms)
    end
  end

  -- Notes one event. id: of the entry, or ''. d: the record of the delivery, if there is one. value: where there is none.
  function note_event(what, id, d, value, due, lease, reason)
    if not events_kept then
      return
    end
    local item = item_of(d)
    local key = item and key_of_item(d) or ''
    local digest = key == '' and (d and d.digest or value and string.sub(redis.sha1hex(value), 1, 32)) or ''
    local fields = {
      'e', what, 'k', key, 'i', key ~= '' and item or id, 'v', digest, 'w', by, 'l', lease or '', 'n', d and d.attempt or 0,
      'd', due and string.format('%.0f', tonumber(due) or 0) or '', 'r', string.sub(reason or '', 1, REASON_SIZE),
    }
    if last_ms then
      number = number + 1
      add(fields)
    else
      add_first(fields)
    end
  end
end
