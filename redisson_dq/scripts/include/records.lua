-- The records of single items, beyond their entries.
-- INCLUDE: forms
--
--   records  'e' .. entry id             state, due, latest (0: none), duplicate until (0: by state), key or nothing
--            'i' .. id of the caller's   entry id
--            'h' .. hash of a payload    entry id
--   forget   entry id -> when its record is dropped; without a record: the item was cancelled
--
-- States: w was put in (whether it waits is for the zset to say), d was polled or acked, x was too late. State r is
-- remembered no more, and may be ready. Most items have no record. The record of an item that Redisson moves stays until a script of
-- ours drops it, or until both keys expire.

-- The record with this text, or nil for that of another program or of a newer version.
local function record_in(text)
  local state, due, latest, duplicate, key = string.match(text, '^(%l) (%d+) (%d+) (%d+) (.*)$')
  -- Texts of digits count as numbers. A larger one would be written in another form.
  return state and due + latest + duplicate <= 3 * 2 ^ 53 and {
    state = state, due = tonumber(due), latest = tonumber(latest), duplicate = tonumber(duplicate), key = key,
  } or nil
end

-- The record of an item, or nil. Of one in a newer form also gives that form, and it holds up neither delivery nor a call.
local function record_of(id)
  local text = redis.call('HGET', keys.records, 'e' .. id)
  local record = text and record_in(text)
  if not record then
    return nil, text and newer_form('records', text) or nil
  end
  return record
end
