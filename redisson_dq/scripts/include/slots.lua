-- Counts the slots of limits, and calls up values for those that are free.
-- INCLUDE: lines, shared_limit, bucket, parts

-- called_up: how many values this call has called up, of all queues. next_ms: in how many ms the first slot ends that
-- values of this queue wait for. 0: they wait, and no slot is taken. -1: none waits. Lua allows a script 200 local names.
local slots = {called_up = 0, next_ms = -1}

-- The limits among the arguments, from one on, and the place after them. Of each: the digest and the home of its slots
-- (or ""), how many slots (0: any number), the digest and the home of its rate (or ""), how many tokens in how many us
-- (0: any number), how many the bucket holds; of a limit by key, or with turns, the words that operators read, names in
-- the context, whose line keeps the order of a key ("id", "rate" or ""), and the keys that take turns (or "").
function slots.limits_from(at, count)
  local limits = {}
  for number = 1, count do
    limits[number] = {
      id = ARGV[at], home = ARGV[at + 1], slots = tonumber(ARGV[at + 2]), rate = ARGV[at + 3], rate_home = ARGV[at + 4],
      tokens = tonumber(ARGV[at + 5]), per_us = tonumber(ARGV[at + 6]), size = tonumber(ARGV[at + 7]),
      context = '', rate_context = '', turns_context = '', in_order = '', turns = '',
    }
    local by = ARGV[at + 8]
    if by ~= '' then
      local limit = limits[number]
      limit.label, limit.rate_label, limit.context, limit.rate_context, limit.turns_label, limit.turns_context,
        limit.in_order, limit.turns = string.match(by, '^(%Z*)%z(%Z*)%z(%Z*)%z(%Z*)%z(%Z*)%z(%Z*)%z(%Z*)%z(.*)$')
    end
    at = at + 9
  end
  return limits, at
end

-- The keys of their own that these limits have, each once, as the limits of all customers share them: whether it is a hash.
function slots.keys_of(limits)
  local found = {}
  for _, limit in ipairs(limits) do
    if limit.slots > 0 and limit.home ~= '' then
      found[slots_key(limit.home)] = false
    end
    if limit.tokens > 0 then
      found[rate_key(limit.rate_home)] = true
      if homes.is_by_key(limit.rate_home) then
        found[slots_key(limit.rate_home)] = false
      end
    end
  end
  return found
end

-- Fails on a wrong type, and without rights, before anything is written.
function slots.check(limits)
  for key, is_hash in pairs(slots.keys_of(limits)) do
    if is_hash then
      redis.call('HLEN', key)
    else
      redis.call('ZCARD', key)
    end
  end
end

-- When the lease ends that has a slot of a home, by what follows the key in it; nil where no lease has it.
function slots.ends_of(slot)
  local size = string.byte(slot) or 0
  local id, queue = string.sub(slot, 2, 1 + size), string.sub(slot, 2 + size)
  local ends = redis.pcall('ZSCORE', key_of_queue('redisson_dq_leases', queue), id)
  return type(ends) == 'string' and tonumber(ends) or nil
end

-- How many slots are taken, of those between two members of a key, and where none is free the time at which the first one
-- ends. Those of leases that have ended by themselves are free. The argument ends_of gives the time at which a slot ends.
function slots.count(key, low, high, most, now_ms, ends_of)
  local taken, first = redis.call('ZLEXCOUNT', key, low, high), math.huge
  if taken < most then
    return taken
  end
  for _, slot in ipairs(redis.call('ZRANGEBYLEX', key, low, high, 'LIMIT', 0, 10000)) do
    local ends = ends_of(slot)
    if not ends or ends <= now_ms then
      redis.call('ZREM', key, slot)
      taken = taken - 1
    else
      first = math.min(first, ends)
    end
  end
  return taken, first
end

-- How many slots of a limit are taken, and where none is free the time at which the first one ends.
function slots.taken(limit, now_ms)
  local shared, first_shared = 0, nil
  if limit.home ~= '' then
    local of_key = homes.key_in(limit.id, limit.home)
    local high = of_key == '' and '(t' or '[s' .. of_key .. HIGHEST
    shared, first_shared = slots.count(slots_key(limit.home), '[s' .. of_key, high, limit.slots, now_ms, function(slot)
      return slots.ends_of(string.sub(slot, 2 + #of_key))
    end)
    if shared >= limit.slots or homes.is_by_key(limit.home) then
      return shared, first_shared
    end
  end
  -- Leases of this queue, also those of a version that knows no homes.
  local low, high = '[s' .. limit.id, '[s' .. limit.id .. HIGHEST
  local taken, first = slots.count(keys.lines, low, high, limit.slots, now_ms, function(slot)
    local id = string.sub(slot, 18)
    local ends = tonumber(redis.call('ZSCORE', keys.leases, id) or nil)
    if not ends or ends <= now_ms then
      redis.call('HDEL', keys.turns, 's' .. id)
    end
    return ends
  end)
  return math.max(taken, shared), first
end

-- How many values were called up for slots of a limit, and have not come to them yet. The argument none_comes: none that an
-- earlier call has called up is on its way. Another program has taken these, and their places are those of nobody.
function slots.on_their_way(prefix, none_comes)
  if not none_comes then
    return redis.call('ZLEXCOUNT', keys.lines, '[' .. prefix, '[' .. prefix .. HIGHEST)
  end
  local left = 0
  for _, member in ipairs(line_of(prefix, 1000)) do
    if in_turn.called[keys.lines .. member] then
      left = left + 1
    else
      local id = string.sub(member, 18)
      local place = string.sub(redis.call('HGET', keys.turns, 'p' .. id) or '', -25)
      redis.call('ZREM', keys.lines, member)
      if redis.call('HGET', keys.turns, place) == id then
        drop_turn(place)
      end
    end
  end
  return left
end

-- Values that were called up are ready, before all others.
function slots.put_in(values)
  in_parts(values, function(...) redis.call('LPUSH', keys.ready, ...) end)
  slots.called_up = slots.called_up + #values
end

-- Calls up values for the slots of a limit that are free, however they became free. A lease may have ended by itself, or
-- the limit may be higher than before. A value that was called up may wait for its key, or another program may have taken
-- it.
function slots.call_up(limit, free, now_ms, none_comes)
  free = free - slots.on_their_way('c' .. limit.id, none_comes)
  local values, comes = {}, false
  while #values < math.min(100, free) do
    -- Those before a value that cannot be called up are put in.
    local done, value, is_ready = pcall(next_of_limit, limit.id, now_ms)
    comes = done and is_ready
    if not done or not value then
      break
    end
    table.insert(values, 1, value)
  end
  slots.put_in(values)
  return free < 1 or #values > 0 or comes
end

-- Whether values of any queue wait for slots of this limit. Of a limit by key: of any of its keys.
function slots.are_awaited(id, home)
  local queue = 'q' .. homes.key_in(id, home)
  return #line_of('w' .. id, 1) > 0 or #line_of('c' .. id, 1) > 0
    or home ~= '' and #redis.call('ZRANGEBYLEX', slots_key(home), '[' .. queue, '[' .. queue .. '\255', 'LIMIT', 0, 1) > 0
end

-- How many slots of a limit are free, how many are taken, and when the first one ends.
function slots.free(limit, now_us, now_ms)
  local taken, ends = slots.taken(limit, now_ms)
  local free = limit.slots - taken
  if free > 0 and limit.tokens > 0 then
    local bucket = buckets.of(limit, now_us)
    -- Without a token one value is called up, for the time of the next one.
    free = math.min(free, bucket.tokens >= 1 and math.floor(bucket.tokens) or bucket.booked > now_us and 0 or 1)
  end
  return free, taken, ends
end

function slots.fill(limit, now_us, now_ms, none_comes)
  local free, taken, ends = slots.free(limit, now_us, now_ms)
  slots.call_up(limit, free, now_ms, none_comes)
  if free > 0 and limit.home ~= '' then
    offer_slot(limit.id, limit.home, 10, now_ms, function()
      return slots.call_up(limit, free, now_ms, in_turn.none_ready())
    end)
  end
  if #line_of('w' .. limit.id, 1) > 0 then
    local left = taken >= limit.slots and ends < math.huge and math.ceil(ends - now_ms) or 0
    slots.next_ms = slots.next_ms < 0 and left or math.min(slots.next_ms, left)
  end
end
