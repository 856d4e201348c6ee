-- Ends leases whose values were not done.
-- INCLUDE: delivery_record, forms, digest, held, envelope, lines, dead, settle, need, first_write, begin_events, check_types

-- Fails on a wrong type and on a missing right before anything is written. Finds out whether the queue has keys or
-- limits, and whether it keeps a history.
local function begin_endings(bounded, now_ms, who, ...)
  check_types(
    {keys.dead}, {keys.timeout, keys.dead_index, keys.forget}, {keys.deliveries, keys.dead_info, keys.records})
  need(SETTLING, BURYING, FOLLOWING, bounded == 'bounded' and {'GET', 'INCRBY'} or {}, ...)
  local lined = begin_events(keys.turns, now_ms, who)
  if lined then
    check_lines()
    need(LINING)
  end
  change_nothing(function() redis.call('ZREMRANGEBYRANK', keys.timeout, 1, 0) end)
  return lined
end

-- Ends those of these leases that are held, one after the other. Returns the number, the id, the value and the record
-- of each.
local function each_ended(ids, lined, now_ms)
  local deadlines, met, i = deadlines_of(ids, now_ms), {}, 0
  return function()
    while i < #ids do
      i = i + 1
      local id, member, text = ids[i], nil, nil
      if deadlines[i] and not met[id] then
        member, met[id] = held(id, deadlines[i], #ids), true
        text = member and redis.call('HGET', keys.deliveries, id)
      end
      -- A lease with a newer record ends by its deadline, and a client that knows the record counts that.
      if member and not newer_form('deliveries', text) then
        local value = unwrap(member)
        redis.call('ZREM', keys.timeout, member)
        redis.call('ZREM', keys.leases, id)
        redis.call('HDEL', keys.deliveries, id)
        if lined then
          -- It was not acked, so an equal value is no duplicate.
          redis.call('HDEL', keys.turns, 'u' .. id)
          leave_slot(id, now_ms)
        end
        return i, id, value, parsed(text) or unknown(digest_of(value))
      end
    end
  end
end
