-- Finds out when a value was last received, of those that receivers hold.
-- KEYS: leases, deliveries
-- INCLUDE: delivery_record

-- How many leases are looked at, of those that end first and last.
local LOOKED_AT = 50

-- In epoch ms; nil where none is held, or nothing is known.
local function last_receipt(now_ms)
  local now, last = string.format('(%.0f', now_ms), nil
  for _, ids in ipairs({
    redis.call('ZRANGEBYSCORE', keys.leases, now, '+inf', 'LIMIT', 0, LOOKED_AT),
    redis.call('ZREVRANGEBYSCORE', keys.leases, '+inf', now, 'LIMIT', 0, LOOKED_AT),
  }) do
    for _, text in ipairs(#ids > 0 and redis.call('HMGET', keys.deliveries, unpack(ids)) or {}) do
      local d = parsed(text)
      if d and d.received > (last or 0) then
        last = d.received
      end
    end
  end
  return last
end
