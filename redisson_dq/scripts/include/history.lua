-- Finds the record of a value that is about to be delivered.
-- KEYS: timeout, deliveries, histories, history_ends
-- INCLUDE: delivery_record, forms

local RECALLING = {'EXISTS', 'HDEL', 'HEXISTS', 'ZCOUNT', 'ZRANGEBYLEX', 'ZRANGEBYSCORE', 'ZSCORE'}
-- At most so many records of equal values are read. Records whose values are ready come first.
local LOOKS = 8

-- Whether the entry with this id and value waits.
local function stands(id, value)
  if redis.call('ZSCORE', keys.timeout, struct.pack('Bc0<I8c0', #id, id, #value, value)) then
    return true
  end
  return #id == 8 and redis.call('ZSCORE', keys.timeout, struct.pack('c0<I8c0', id, #value, value))
end

-- Takes the record that belongs to the next delivery of a value, or gives nil. Nothing is taken from one in a newer form.
local function history_of(value, digest)
  local range = redis.call('ZRANGEBYLEX', keys.histories, '[' .. digest, '[' .. digest .. '\255', 'LIMIT', 0, LOOKS)
  local told
  for _, member in ipairs(range) do
    local id = string.sub(member, 41)
    if not stands(id, value) then
      local text = redis.call('HGET', keys.deliveries, id)
      local d = parsed(text)
      if newer_form('deliveries', text) then
        -- It stays for a client that knows it. The receiver of this delivery is told.
        told = text
      else
        redis.call('ZREM', keys.histories, member)
        redis.call('ZREM', keys.history_ends, member)
        redis.call('HDEL', keys.deliveries, id)
        if d then
          d.id = id
          return d
        end
      end
    end
  end
  if told then
    local d = unknown(digest)
    d.told = told
    return d
  end
  return nil
end
