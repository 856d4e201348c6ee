-- Takes dead letters, quarantined entries or undecodable values out for good, or gives them back to their queue. Sets
-- ready values aside as undecodable.
-- KEYS: ready, timeout, envelopes, channel, alarm, quarantine, undecodable, deliveries, histories, history_ends, capacity, capacity_channel, records, forget, dead, dead_info, dead_index, returned, settings, events
-- ARGV: nonce, "dead", "quarantine" or "undecodable", "purge", "redrive", "values" (a quarantined entry is delivered as a value) or "add" (a ready value becomes an undecodable one), for how many ms outcomes are remembered, then of each its element of the list, and of a dead letter its id, else ""; last the process that calls
-- RETURN: the server's time in epoch us; "done", "gone", "newer" (it has a record in a newer form) or "unreadable" (it is in no known format) of each
-- COST: O(n (p + log m)), n elements, p the place of each in its list, m waiting
-- INCLUDE: clock, act_once, once, envelope, letters, forms, named, records, remember, settle, leave, need, first_write, announce, add, head, room, change_room, events, check_types, item_name
local now_us, now_ms = server_time()
local who = table.remove(ARGV)
local kind, action, remember_ms = ARGV[2], ARGV[3], tonumber(ARGV[4])
check_types(
  {keys.ready, keys.envelopes, keys.quarantine, keys.undecodable, keys.dead},
  {keys.timeout, keys.dead_index, keys.histories, keys.history_ends, keys.forget, keys.returned},
  {keys.dead_info, keys.deliveries, keys.records})
need(WRITES_NOTES, LETTERING, FOLLOWING, ADDING, {'DEL', 'GET', 'INCRBY', 'LREM'})
change_nothing(function() redis.call('ZREMRANGEBYRANK', keys.histories, 1, 0) end)

-- A value that is ready takes room in a bounded queue, even where none is left.
local function make_ready(value)
  redis.call('RPUSH', keys.ready, value)
  change_room(-1)
end

local function end_letter(value, id)
  if id ~= '' and newer_form('dead_info', redis.call('HGET', keys.dead_info, id)) then
    return 'newer'
  elseif redis.call('LREM', keys.dead, 1, value) == 0 then
    return 'gone'
  end
  local d = id ~= '' and forget_letter(id) or nil
  note_event(action == 'redrive' and 'redriven' or 'purged', '', d, value)
  if action == 'redrive' then
    make_ready(value)
    if d and (d.offered > 0 or d.due > 0 or d.context ~= '') then
      begin_anew(d)
      leave(id, d, now_ms, now_ms)
      known_by(d, 'l', id, now_ms, now_ms, value)
    end
    return 'done'
  end
  local item = item_of(d)
  if item and place_of(item) == id then
    live_until(bury(item, record_of(item), now_ms, remember_ms, now_ms), now_ms)
  end
  return 'done'
end

local function end_quarantine(element)
  local score, member = string.match(element, '^(%S*) (.*)$')
  local due = tonumber(score) or now_ms
  local _, id = unwrap(member or '')
  if action == 'redrive' and not id or action == 'values' and not member then
    return redis.call('LPOS', keys.quarantine, element) and 'unreadable' or 'gone'
  elseif redis.call('LREM', keys.quarantine, 1, element) == 0 then
    return 'gone'
  elseif action == 'redrive' then
    redis.call('ZADD', keys.timeout, due, member)
    if #id == 8 and not redis.call('LPOS', keys.envelopes, member) then
      redis.call('RPUSH', keys.envelopes, member)
    end
    tell_added(member, due, now_ms)
  elseif action == 'values' then
    make_ready(member)
  end
  return 'done'
end

-- How many ready values a value is looked for among.
local READY = 100000

local function set_aside(value)
  if not redis.call('LPOS', keys.ready, value, 'MAXLEN', READY) then
    return 'gone'
  end
  redis.call('LREM', keys.ready, 1, value)
  redis.call('RPUSH', keys.undecodable, value)
  make_room(1)
  return 'done'
end

local function end_undecodable(value)
  if action == 'add' then
    return set_aside(value)
  elseif redis.call('LREM', keys.undecodable, 1, value) == 0 then
    return 'gone'
  elseif action == 'redrive' then
    make_ready(value)
  end
  return 'done'
end

local by_kind = {dead = end_letter, quarantine = end_quarantine, undecodable = end_undecodable}
local outcomes = act_once(ARGV[1], math.floor((#ARGV - 4) / 2), now_ms, who, function(outcomes)
  for i = 5, #ARGV, 2 do
    outcomes[#outcomes + 1] = by_kind[kind](ARGV[i], ARGV[i + 1])
  end
  drop_orphans()
end)
return reply_with({now_us, outcomes})
