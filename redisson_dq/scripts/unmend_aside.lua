-- Takes a call of mend_aside.lua back: elements are at the head of their list again.
-- KEYS: ready, timeout, envelopes, quarantine, undecodable, deliveries, leases, histories, history_ends, capacity, capacity_channel, records, forget, dead, dead_info, dead_index, returned, settings, events
-- ARGV: nonce, "dead", "quarantine" or "undecodable", "purge", "redrive", "values" or "add", then of each its element of the list, and of a dead letter its id and its record in dead_info, else "" and ""; last the process that calls
-- RETURN: the server's time in epoch us; "done" or "gone" (it is not in the queue any more) of each
-- COST: O(n (r + log d)), n elements, r ready values, d dead letters
-- INCLUDE: clock, act_once, letters, delivery_record, settle, unlearn, need, first_write, room, change_room, announce, events, check_types
local now_us, now_ms = server_time()
local who = table.remove(ARGV)
local kind, action = ARGV[2], ARGV[3]
check_known()
check_types(
  {keys.ready, keys.envelopes, keys.quarantine, keys.undecodable, keys.dead},
  {keys.timeout, keys.dead_index, keys.forget, keys.returned}, {keys.dead_info, keys.records})
need(WRITES_NOTES, UNLEARNING, FOLLOWING, {'GET', 'INCRBY', 'LPUSH', 'LREM'})
change_nothing(function() redis.call('ZREMRANGEBYRANK', keys.timeout, 1, 0) end)

-- Values that were set aside were near the head of the ready ones.
local function ready_again(value)
  if redis.call('LREM', keys.undecodable, -1, value) == 0 then
    return 'gone'
  end
  redis.call('LPUSH', keys.ready, value)
  change_room(-1)
  return 'done'
end

local function bring_back(element, id, info)
  local value = kind == 'quarantine' and string.match(element, '^%S* (.*)$') or element
  if action == 'redrive' and kind == 'quarantine' then
    if redis.call('ZREM', keys.timeout, value) == 0 then
      return 'gone'
    end
    redis.call('LREM', keys.envelopes, -1, value)
  elseif action ~= 'purge' then
    -- It is at the end of the queue, unless others came since. Equal values count for each other.
    if redis.call('LREM', keys.ready, -1, value) == 0 then
      return 'gone'
    end
    make_room(1)
    if id ~= '' then
      unlearn(id)
    end
  end
  redis.call('LPUSH', keys[kind], element)
  local _, _, text = letter(info ~= '' and info)
  local d = parsed(text)
  if d then
    redis.call('HSET', keys.dead_info, id, info)
    redis.call('ZADD', keys.dead_index, 0, place(id, d))
    known_by(d, 'd', id, now_ms + DAY_MS, now_ms)
  end
  note_event('restored', '', d, element)
  return 'done'
end

local count = math.floor((#ARGV - 3) / 3)
local outcomes = act_once(ARGV[1], count, now_ms, who, function(outcomes)
  -- The last one first, so that the first one is the head again.
  for i = count, 1, -1 do
    outcomes[i] = action == 'add' and ready_again(ARGV[3 * i + 1]) or bring_back(unpack(ARGV, 3 * i + 1, 3 * i + 3))
  end
end)
return reply_with({now_us, outcomes})
