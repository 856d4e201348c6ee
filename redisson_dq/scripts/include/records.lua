-- The records of single items, beyond their entries.
-- KEYS: records
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

-- The record of an item, or nil. Of one in a newer form also gives that form.
local function record_of(id)
  local text = redis.call('HGET', keys.records, 'e' .. id)
  if not text then
    return nil
  end
  local state, due, latest, duplicate, key = string.match(text, '^(%l) (%d+) (%d+) (%d+) (.*)$')
  -- Texts of digits count as numbers. A larger one would be written in another form.
  if not state or due + latest + duplicate > 3 * 2 ^ 53 then
    -- The record of another program, or of a newer version. It must hold up neither delivery nor a call.
    return nil, newer_form('records', text)
  end
  return {
    state = state, due = tonumber(due), latest = tonumber(latest), duplicate = tonumber(duplicate), key = key,
  }
end
