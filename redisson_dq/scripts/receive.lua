-- Takes values from the ready list and leases them, each until the same deadline.
-- Answers to: nothing in RBlockingQueue; RReliableQueue.pollMany(args) is alike
-- KEYS: ready, arrivals, timeout, channel, leases, deliveries, histories, history_ends, alarm, dead, dead_info, dead_index, capacity, capacity_channel, turns
-- ARGV: envelope ("current" or "legacy"), what the ids of this call begin with, how many at most, for how many us, after how many deliveries a value is a dead letter (0: never), "bounded" or ""
-- RETURN: the server's time in epoch us; how many became dead letters; of each lease its id, its deadline, its record and its value; how many values are left
-- COST: O(n log m), n received, m waiting
-- INCLUDE: clock, digest, grant, announce, need, whole
-- LPOP comes first. It needs no memory, so a full server does not refuse the later commands.
local RECEIVING = {'LPOP'}
local envelope, nonce = ARGV[1], ARGV[2]
local count, visible_us, limit = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local now_us, now_ms = server_time()
local deadline = due_of(visible_us, now_us)

-- Fails on a wrong type before anything is written.
local arrived, ready = redis.call('LLEN', keys.arrivals), redis.call('LLEN', keys.ready)
redis.call('ZCARD', keys.timeout)
-- This call may have run before.
local again = redis.call('HEXISTS', keys.deliveries, nonce .. '\0\0') == 1
-- Most queues have no values that were delivered before.
local known = redis.call('ZCOUNT', keys.leases, '-inf', whole(now_ms)) > 0 or redis.call('EXISTS', keys.histories) == 1
need(RECEIVING, GRANTING)
local popped, bytes, largest = 0, 0, 0

local function receive_from(key, deliver)
  -- More values than were asked for are taken only where dead letters are among them, and a bounded number.
  -- The first value tells how large the values are. The reply is to have no more than some 32 MB.
  while grants < count and popped < count + 100 and bytes < 33554432 do
    local room = popped == 0 and 1 or math.ceil((33554432 - bytes) / math.max(largest, 1))
    local values = redis.call('LPOP', key, math.min(count - grants, 100, room))
    if not values then
      return
    end
    for _, value in ipairs(values) do
      popped, bytes, largest = popped + 1, bytes + #value, math.max(largest, #value)
      deliver(value, digest_of(value))
    end
  end
end

local function receive(deliver)
  if arrived > 0 then
    receive_from(keys.arrivals, deliver)
  end
  if ready > 0 then
    receive_from(keys.ready, deliver)
  end
  write_grants(deadline, now_ms)
end

if not again and not known then
  receive(function(value, digest)
    grant_new(envelope, new_id(nonce), value, digest, deadline, now_ms)
  end)
  return reply_with({now_us, 0, granted, arrived + ready - popped})
end

-- INCLUDE: reap, lapse, history, forget_histories, regrant, dead, room
-- The call was sent again, as its reply was lost: it gives the same leases.
if again and granted_before(nonce, now_ms) then
  return reply_with({now_us, 0, granted, arrived + ready})
end
local bounded, buried = ARGV[6] == 'bounded', 0
if known then
  for _, key in ipairs({keys.histories, keys.history_ends, keys.dead_index}) do
    redis.call('ZCARD', key)
  end
  redis.call('LLEN', keys.dead)
  redis.call('HLEN', keys.dead_info)
  redis.call('HLEN', keys.turns)
  need(LAPSING, RECALLING, BURYING)
  if bounded then
    need({'GET', 'INCRBY'})
  end
  reap(now_ms, count + 20)
end
receive(function(value, digest)
  local d = known and history_of(value, digest)
  if d and limit > 0 and d.attempt >= limit then
    to_dead(letter_id(nonce), value, d, '', now_ms)
    buried = buried + 1
  else
    grant(envelope, next_id(nonce, known), value, digest, d, deadline, now_ms)
  end
end)
if known then
  forget_histories(now_ms, popped == 0, FEW_HISTORIES)
end
if bounded then
  make_room(buried)
end
return reply_with({now_us, buried, granted, arrived + ready - popped})
