-- Leases the values of one call, all until the same deadline.
-- INCLUDE: keep_alive, waking, parts, int, events
local GRANTING = {'HSET', 'PEXPIRE', 'PTTL', 'ZADD', 'ZRANGE'}

-- The answer of the call for each lease: its id, its deadline, its record and its value.
local granted = {}
local entries, records, deadlines = {}, {}, {}
local grants, number, fresh, moment = 0, 0, nil, nil

local function add_row(id, deadline, text, value)
  local n = 4 * grants
  granted[n + 1], granted[n + 2], granted[n + 3], granted[n + 4] = id, deadline, text, value
  grants = grants + 1
end

-- The next id of this call.
local function new_id(nonce)
  number = number + 1
  return nonce .. struct.pack('>I2', number - 1)
end

-- Leases a value. text: its record; told: the record as the receiver gets it.
local function lease(envelope, id, value, text, told, deadline)
  local n = 2 * grants
  if envelope == 'legacy' then
    entries[n + 2] = struct.pack('c0<I8', id, #value) .. value
  else
    entries[n + 2] = struct.pack('Bc0<I8', #id, id, #value) .. value
  end
  moment = moment or int(deadline)
  entries[n + 1] = moment
  records[n + 1], records[n + 2] = id, text
  deadlines[n + 1], deadlines[n + 2] = moment, id
  add_row(id, deadline, told, value)
end

-- Leases a value that comes for the first time. Its record is not returned, as it says nothing that the receiver does
-- not know.
local function grant_new(envelope, id, value, digest, deadline, now_ms)
  -- As record_text would write it (delivery_record.lua).
  fresh = fresh or '1 0 0 ' .. int(now_ms) .. ' ' .. int(now_ms) .. ' 0 0 0 '
  lease(envelope, id, value, fresh .. digest .. ' 0 ', '', deadline)
  if events_kept then
    note_event('delivered', '', {context = '', digest = digest, attempt = 1}, nil, nil, id)
  end
end

-- Writes the leases, and announces to every client when they end.
local function write_grants(deadline, now_ms)
  if #entries > 0 then
    in_parts(entries, function(...) redis.call('ZADD', keys.timeout, ...) end)
    in_parts(records, function(...) redis.call('HSET', keys.deliveries, ...) end)
    in_parts(deadlines, function(...) redis.call('ZADD', keys.leases, ...) end)
    keep_alive(deadline, now_ms, {keys.leases, keys.deliveries})
    wake(deadline, now_ms)
  end
end
