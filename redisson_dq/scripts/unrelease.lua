-- Takes values back that give_back.lua made ready: their leases are held again, until the deadlines that they had.
-- KEYS: ready, timeout, channel, leases, deliveries, histories, history_ends, alarm, turns, returned, settings, events
-- ARGV: nonce, then of each lease its id, its deadline, its record and its value; last the process that calls
-- RETURN: the server's time in epoch us; "done", "gone" (it was received or changed since), "ended" (its deadline has passed), "lined" (the queue has keys or limits) or "newer" (it has a record in a newer form) of each
-- COST: O(n (r + log m)), n leases, r ready values, m waiting
-- INCLUDE: clock, act_once, forms, unlearn, need, first_write, grant, announce, check_types
local now_us, now_ms = server_time()
local who = table.remove(ARGV)
check_known()
check_types({keys.ready}, {keys.timeout, keys.leases, keys.returned})
need(WRITES_NOTES, UNLEARNING, GRANTING, {'LREM', 'EXISTS'})
change_nothing(function() redis.call('ZREMRANGEBYRANK', keys.timeout, 1, 0) end)
-- The turn and the slot of a lease went to others when it ended.
local lined = redis.call('EXISTS', keys.turns) == 1
local first, last

local function hold_again(id, deadline, record, value)
  local text = redis.call('HGET', keys.deliveries, id)
  if lined then
    return 'lined'
  elseif tonumber(deadline) <= now_ms then
    return 'ended'
  elseif newer_form('deliveries', text) then
    return 'newer'
  -- The record goes to the next lease of the value.
  elseif not text or redis.call('ZSCORE', keys.leases, id) or redis.call('LREM', keys.ready, -1, value) == 0 then
    return 'gone'
  end
  unlearn(id)
  deadline = tonumber(deadline)
  first, last = math.min(first or deadline, deadline), math.max(last or 0, deadline)
  -- The leases of one receive have one deadline. These have each their own.
  moment = int(deadline)
  lease(#id == 8 and 'legacy' or 'lean', id, value, record, '', deadline)
  return 'done'
end

local outcomes = act_once(ARGV[1], math.floor((#ARGV - 1) / 4), now_ms, who, function(outcomes)
  for i = 2, #ARGV, 4 do
    outcomes[#outcomes + 1] = hold_again(unpack(ARGV, i, i + 3))
  end
  if first then
    write_grants(first, now_ms)
    keep_alive(last, now_ms, {keys.leases, keys.deliveries})
  end
end)
return reply_with({now_us, outcomes})
