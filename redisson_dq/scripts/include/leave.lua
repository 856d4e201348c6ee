-- Writes the record of a value for its next delivery.
-- INCLUDE: delivery_record, keep_alive
--
--   leases        id -> deadline, of each value that a receiver holds. Its entry in the zset is due at that time
--   deliveries    id -> record, of a lease, or of a value that was delivered before or was offered with a context
--   histories     digest .. order .. id, all with the score 0: the records that belong to the next delivery of such a
--                 value. A record counts for a value only when the entry with its id is gone
--   history_ends  the same members -> order, when the value was or will be ready again
local function leave(id, d, order, now_ms)
  d.order = order
  redis.call('HSET', keys.deliveries, id, record_text(d))
  local member = place(id, d)
  redis.call('ZADD', keys.histories, 0, member)
  redis.call('ZADD', keys.history_ends, order, member)
  keep_alive(math.max(order, now_ms), now_ms, {keys.deliveries, keys.histories, keys.history_ends})
end
