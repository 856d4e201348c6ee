-- Leases values of which something is known, and finds again what a call has leased.
-- INCLUDE: envelope, find, delivery_record, turn, grant, settle, events

local letters = 0

-- Finds the leases of the same call, whose reply was lost.
local function granted_before(nonce, now_ms)
  if redis.call('HEXISTS', keys.deliveries, nonce .. '\0\0') == 0 then
    return false
  end
  while true do
    local id = nonce .. struct.pack('>I2', number)
    local text = redis.call('HGET', keys.deliveries, id)
    if not text then
      return grants > 0
    end
    local deadline = redis.call('ZSCORE', keys.leases, id)
    local member = deadline and tonumber(deadline) > now_ms and find(id, deadline)
    if member then
      add_row(id, tonumber(deadline), text, (unwrap(member)))
    end
    number = number + 1
  end
end

-- The next id of this call. The argument known: whether one from long ago may be there, of a call that had the same
-- nonce.
local function next_id(nonce, known)
  local id
  repeat
    id = new_id(nonce)
  until not known or redis.call('HEXISTS', keys.deliveries, id) == 0
  return id
end

-- The id of a value that this call makes a dead letter. The ids of leases follow each other without a gap.
local function letter_id(nonce)
  letters = letters + 1
  return nonce .. struct.pack('>I2', 65536 - letters)
end

-- Leases a value. d: its record, or nil for one that comes for the first time.
local function grant(envelope, id, value, digest, d, deadline, now_ms)
  if not d then
    grant_new(envelope, id, value, digest, deadline, now_ms)
    return
  end
  d.attempt, d.received, d.order = d.attempt + 1, now_ms, 0
  if d.first == 0 then
    d.first = now_ms
  end
  local text = record_text(d)
  follow(d, id)
  known_by(d, 'l', id, deadline, now_ms)
  lease(envelope, id, value, text, d.told or text, deadline)
  note_event('delivered', '', d, nil, nil, id)
end
