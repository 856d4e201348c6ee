-- Finds what is known of a value that is about to be delivered.
-- KEYS: timeout, deliveries, histories, history_ends
-- INCLUDE: delivery_record

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

-- Takes the record that belongs to the next delivery of a value, or gives nil.
local function history_of(value, digest)
  local range = redis.call('ZRANGEBYLEX', keys.histories, '[' .. digest, '[' .. digest .. '\255', 'LIMIT', 0, LOOKS)
  for _, member in ipairs(range) do
    local id = string.sub(member, 41)
    if not stands(id, value) then
      local d = parsed(redis.call('HGET', keys.deliveries, id))
      redis.call('ZREM', keys.histories, member)
      redis.call('ZREM', keys.history_ends, member)
      redis.call('HDEL', keys.deliveries, id)
      if d then
        return d
      end
    end
  end
  return nil
end
