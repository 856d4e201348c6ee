-- Moves dead letters to the ready list of a queue, where they start again.
-- Answers to: nothing in RBlockingQueue; RReliableQueue.move(args) is alike
-- KEYS: dead, dead_info, dead_index, ready, channel, deliveries, histories, history_ends, capacity, records, forget, settings, events
-- ARGV: "ids" or "all", how many at most, the ids; last the process that calls
-- RETURN: how many were moved, how many are left, how many clients have the queue open (-1: nobody can tell)
-- COST: O(n log d), n moved, d dead letters; O(n d) by ids
-- INCLUDE: clock, leave, letters, settle, parts, need, first_write, change_room, events, check_types
local _, now_ms = server_time()
local who = table.remove(ARGV)
check_types(
  {keys.ready}, {keys.dead_index, keys.histories, keys.history_ends, keys.forget},
  {keys.dead_info, keys.deliveries, keys.records})
local is_bounded = redis.call('GET', keys.capacity)
need(LETTERING, FOLLOWING, {'HSET', 'PEXPIRE', 'PTTL', 'RPUSH', 'ZADD'}, is_bounded and {'INCRBY'} or {})
change_nothing(function() redis.call('ZREMRANGEBYRANK', keys.histories, 1, 0) end)
keep_events(now_ms, who)
local values = {}
take_letters(ARGV[1], {unpack(ARGV, 3)}, ARGV[2], function(value, d, id)
  values[#values + 1] = value
  note_event('redriven', '', d, value)
  if d and (d.offered > 0 or d.due > 0 or d.context ~= '') then
    begin_anew(d)
    leave(id, d, now_ms, now_ms)
    known_by(d, 'l', id, now_ms, now_ms, value)
  end
end)
in_parts(values, function(...) redis.call('RPUSH', keys.ready, ...) end)
if is_bounded and #values > 0 then
  -- The values made room when they became dead letters, and will make room again. So they take room here, even where
  -- none is left.
  change_room(-#values)
end
drop_orphans()
local subscribers = redis.pcall('PUBSUB', 'NUMSUB', keys.channel)[2] or -1
return {#values, redis.call('LLEN', keys.dead), subscribers}
