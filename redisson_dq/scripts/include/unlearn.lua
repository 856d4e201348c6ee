-- Drops the record of an entry that is taken out. A record in a newer form stays: it goes with the next delivery of
-- the value.
-- INCLUDE: delivery_record, forms
local UNLEARNING = {'HDEL', 'HGET', 'ZREM'}

-- Fails on a wrong type before anything is written.
local function check_known()
  if redis.call('HLEN', keys.deliveries) > 0 then
    for _, key in ipairs({keys.leases, keys.histories, keys.history_ends}) do
      redis.call('ZCARD', key)
    end
  end
end

-- Returns the record, or nil. text: what deliveries has, if the caller has read it.
local function unlearn(id, text)
  if text == nil then
    text = redis.call('HGET', keys.deliveries, id)
  end
  if not text or newer_form('deliveries', text) then
    return nil
  end
  local d = parsed(text)
  if d then
    local member = place(id, d)
    redis.call('ZREM', keys.histories, member)
    redis.call('ZREM', keys.history_ends, member)
  end
  redis.call('HDEL', keys.deliveries, id)
  redis.call('ZREM', keys.leases, id)
  return d
end
