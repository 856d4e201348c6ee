-- Drops the records of values that nobody will receive any more.
-- INCLUDE: find, named, delivery_record, foreign, item_name
local AGED = 86400000
-- A call that leaves at most one record drops this many at most.
local FEW_HISTORIES = 20

-- Drops records whose values have been taken, up to a number. Where nothing is ready these are all that are over, else
-- those that are over for a day. Returns how many were looked at.
local function forget_histories(now_ms, nothing_ready, most)
  local until_ms = nothing_ready and now_ms or now_ms - AGED
  local over = redis.call('ZRANGEBYSCORE', keys.history_ends, '-inf', until_ms, 'WITHSCORES', 'LIMIT', 0, most)
  for i = 1, #over, 2 do
    local member = over[i]
    local id = string.sub(member, 41)
    if not is_id(id) then
      set_foreign_aside(keys.history_ends, member, over[i + 1])
      redis.call('ZREM', keys.histories, member)
    elseif find(id, order_of(member)) then
      -- It is due and was not moved yet.
      redis.call('ZADD', keys.history_ends, now_ms + 5000, member)
    else
      local item = item_of(parsed(redis.call('HGET', keys.deliveries, id)))
      if item and not nothing_ready then
        -- An item keeps its id as long as its value may be ready. The sweep drops what was taken (sweep.lua).
        redis.call('ZADD', keys.history_ends, until_ms + 300000, member)
      else
        redis.call('ZREM', keys.histories, member)
        redis.call('ZREM', keys.history_ends, member)
        if item and place_of(item) == id then
          forget_place(item)
        end
        redis.call('HDEL', keys.deliveries, id)
      end
    end
  end
  return math.floor(#over / 2)
end
