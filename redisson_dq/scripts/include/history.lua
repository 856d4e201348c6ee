-- Finds the record of a value that is about to be delivered.
-- INCLUDE: delivery_record, forms, known_of

local RECALLING = {'EXISTS', 'HDEL', 'HEXISTS', 'ZCOUNT', 'ZRANGEBYLEX', 'ZRANGEBYSCORE', 'ZSCORE'}

-- Takes the record that belongs to the next delivery of a value, or gives nil. Nothing is taken from one in a newer form.
local function history_of(value, digest)
  local told
  for _, member in ipairs(known_of(digest)) do
    local id = string.sub(member, 41)
    if not stands(id, value) then
      local text = redis.call('HGET', keys.deliveries, id)
      local d = parsed(text)
      if newer_form('deliveries', text) then
        -- It stays for a client that knows it. The form is reported to the receiver of this delivery.
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
