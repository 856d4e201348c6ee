-- Limits and rates by key: each key of values has slots and tokens of its own.
-- INCLUDE: eight_bytes, item_name, lines, unpark, shared_limit, bucket, slots
--
--   lines    'p' .. since .. id   a parked value, since epoch ms
--            'g' .. rate .. id    the value that has a time for the next token, where others wait for their turns
--   turns    'p' .. id            since when it is parked, and by what; then, after a NUL, its turn among those of its
--                                 key, which it keeps until it begins
--
-- The caller names a limit for each key that it has seen, by 16 bytes. It names the limit of all keys by the first 4. A
-- limit by the context of an offer is named so too, as the caller has not seen that.

-- Lua allows a script 200 local names. MOST: how many waiting keys one call looks at. named: the limits that the
-- contexts of values name. came: of the limits whose next values have come, by id.
local by_keys = {MOST = 20, named = {}, came = {}}

function by_keys.with_key(limit, key, rate_key)
  local made = {}
  for name, of_limit in pairs(limit) do
    made[name] = of_limit
  end
  if #limit.id == 4 and limit.slots > 0 then
    made.id = limit.id .. key
  end
  if #limit.rate == 4 then
    made.rate = limit.rate .. rate_key
  end
  if #limit.turns == 4 then
    made.turns = limit.turns .. key
  end
  return made
end

-- The limit of a value, if its context names one.
function by_keys.limit_of(limit, d)
  if not limit or limit.context == '' and limit.rate_context == '' and limit.turns_context == '' then
    return limit
  end
  local is_json, told = pcall(cjson.decode, d.context)
  local function key_of(name)
    local found = is_json and type(told) == 'table' and told[name]
    found = type(found) == 'string' and found or ''
    return bytes_of(string.sub(redis.sha1hex(found), 1, 24)), (string.gsub(string.sub(found, 1, 480), '%z', ' '))
  end
  local key, label = key_of(limit.turns_context ~= '' and limit.turns_context or limit.context)
  local rate, rate_label = key_of(limit.rate_context)
  local made = by_keys.with_key(limit, key, rate)
  made.label = limit.context == '' and limit.label or limit.label .. label
  made.rate_label = limit.rate_context == '' and limit.rate_label or limit.rate_label .. rate_label
  made.turns_label = limit.turns_context == '' and limit.turns_label or limit.turns_label .. label
  return made
end

-- The keys of a limit that values of this queue wait for: some of them, other ones at each time.
function by_keys.waiting_keys(limit, most, now_us)
  local prefix = 'w' .. limit
  local start = prefix .. struct.pack('>I2', now_us % 65536)
  local last = '[' .. prefix .. HIGHEST
  local found, from, around = {}, '[' .. start, false
  while #found < most do
    local turn = redis.call('ZRANGEBYLEX', keys.lines, from, last, 'LIMIT', 0, 1)[1]
    if not turn and not around then
      from, around = '[' .. prefix, true
    elseif not turn or around and turn >= start then
      break
    else
      found[#found + 1] = string.sub(turn, 2, 17)
      from = '(w' .. string.sub(turn, 2, 17) .. HIGHEST
    end
  end
  return found
end

-- As fill does it, for some keys of a limit by key. The values that were called up and did not come are those of other
-- programs.
function by_keys.fill_keys(limit, now_us, now_ms, none_comes)
  local met = {}
  local function fill_key(id)
    if not met[id] and #id == 16 then
      met[id] = true
      local key = string.sub(id, 5)
      slots.fill(by_keys.with_key(limit, key, key), now_us, now_ms, none_comes)
    end
  end
  for _, called in ipairs(none_comes and line_of('c' .. limit.id, 100) or {}) do
    fill_key(string.sub(called, 2, 17))
  end
  for _, id in ipairs(by_keys.waiting_keys(string.sub(limit.id, 1, 4), by_keys.MOST, now_us)) do
    fill_key(id)
  end
end

-- Fills these limits, and those that the contexts of values have named. Mostly nothing waits for any key of a limit.
function by_keys.fill_all(limits, now_us, now_ms, none_comes)
  local awaited = {}
  for _, some in ipairs({limits, by_keys.named}) do
    for _, limit in ipairs(some) do
      local id = string.sub(limit.id, 1, homes.is_by_key(limit.home) and 4 or 16)
      if limit.slots > 0 and awaited[id] == nil then
        awaited[id] = slots.are_awaited(id, limit.home)
      end
      if awaited[id] and #limit.id == 4 then
        by_keys.fill_keys(limit, now_us, now_ms, none_comes)
      elseif awaited[id] then
        slots.fill(limit, now_us, now_ms, none_comes)
      end
    end
  end
end

function by_keys.note_parked(id, since_ms, label)
  redis.call('ZADD', keys.lines, 0, 'p' .. eight_bytes(since_ms) .. id)
  redis.call('HSET', keys.turns, 'p' .. id, string.format('%.0f ', since_ms) .. label)
end

-- The value with this record came again. Returns since when it had been parked, and its turn.
function by_keys.forget_parked(id)
  local since, turn = forget_parked(id)
  -- A place that was dropped may be that of another value now.
  local known = turn and #turn == 25 and (redis.call('HGET', keys.turns, turn) or id)
  return since, known == id and turn or nil
end

-- The place in a line of a value that waits: the one that it had, or the last. Values that were handed back untouched go
-- before all others, in their order.
function by_keys.place_of(line, had, handed_back, now_ms)
  local prefix = 'w' .. line
  if had then
    redis.call('ZADD', keys.lines, 0, had)
    return had
  elseif not handed_back then
    return new_turn(prefix, now_ms)
  end
  local last = redis.call(
    'ZREVRANGEBYLEX', keys.lines, '[' .. prefix .. eight_bytes(in_turn.FIRST - 1), '[' .. prefix, 'LIMIT', 0, 1)[1]
  return in_turn.numbered(prefix, last and #last == #prefix + 8 and number_of(last) + 1 or in_turn.BACK)
end

-- The first value of a line that goes before a number, or nil. The argument came is the time at which the value with that
-- number was ready, if no call has put it at the head: a value that was ready before it was taken by another client.
function by_keys.first_before(line, number, came, now_ms)
  for _ = 1, 100 do
    local first, _, state, other = first_of('w' .. line, now_ms)
    if not first or number_of(first) >= number then
      return nil
    elseif state ~= 'ready' or other.order >= came then
      return first
    end
    drop_turn(first)
  end
  return nil
end

-- The line that keeps the order of a value's key, or nil.
function by_keys.line_of(limit)
  return limit.turns ~= '' and limit.turns or limit[limit.in_order]
end

-- Whether a value of this queue has a time for the next token, and has not come. One that is ready for 10 minutes was taken
-- by another client.
function by_keys.is_booked(limit, now_ms)
  for _, member in ipairs(line_of('g' .. limit.rate, 1)) do
    local id = string.sub(member, 18)
    local d = parsed(redis.call('HGET', keys.deliveries, id))
    if d and (find(id, d.order) or d.order > now_ms - 600000 and not in_turn.none_ready()) then
      return true
    end
    redis.call('ZREM', keys.lines, member)
  end
  return false
end

-- How many more values may take slots and tokens of a limit, if some were called up for these already.
function by_keys.room_of(limit, called, now_us, now_ms)
  local room = math.huge
  if limit.slots > 0 and #limit.id == 16 then
    room = limit.slots - slots.taken(limit, now_ms) - called
  end
  if limit.tokens > 0 and #limit.rate == 16 then
    local bucket = buckets.of(limit, now_us)
    -- Without a token one value is called up, for the time of the next one. No other goes before it.
    room = math.min(room, by_keys.is_booked(limit, now_ms) and 0 or math.max(1, math.floor(bucket.tokens)) - called)
  end
  return room
end

-- Calls up values of the keys whose turns it is, at most this many.
function by_keys.take_turns(limits, most, now_us, now_ms, none_comes)
  for _, limit in ipairs(limits) do
    if #limit.turns == 4 and #line_of('w' .. limit.turns, 1) > 0 then
      local prefix, values = 'c' .. limit.turns, {}
      local before = slots.on_their_way(prefix, none_comes)
      local free = math.min(most - before, by_keys.room_of(limit, before, now_us, now_ms), 100)
      while #values < free do
        local value = in_turn.next(limit.turns, now_ms, function(key)
          return by_keys.room_of(
            by_keys.with_key(limit, key, key), slots.on_their_way(prefix .. key), now_us, now_ms) >= 1
        end)
        if not value then
          break
        end
        table.insert(values, 1, value)
      end
      slots.put_in(values)
      slots.next_ms = 0
    end
  end
end

-- The slot of a lease that ended by itself is given back when its value comes again.
function by_keys.forget_slot(limit, id)
  if limit.home == '' then
    return
  end
  redis.call('ZREM', keys.lines, 's' .. limit.id .. id)
  redis.call('ZREM', slots_key(limit.home), shared_slot(limit.id, limit.home, id))
end

-- Drops a few slots and queues of a home where they are void.
function by_keys.tidy_home(limit, now_ms)
  local key = slots_key(limit.home)
  for _, member in ipairs(redis.call('ZRANDMEMBER', key, 3)) do
    local kind, id, rest = string.sub(member, 1, 1), string.sub(member, 2, 17), string.sub(member, 18)
    if kind == 's' then
      if (slots.ends_of(rest) or 0) <= now_ms then
        redis.call('ZREM', key, member)
      end
    elseif kind == 'q' and not in_queue(rest, function()
      return #line_of('w' .. id, 1) > 0
    end) then
      redis.call('ZREM', key, member)
    end
  end
end

-- Drops what of the keys of these limits is idle.
function by_keys.tidy_all(limits, most, now_us, now_ms)
  for _, limit in ipairs(limits) do
    if limit.slots > 0 and #limit.id == 4 and limit.home ~= '' then
      by_keys.tidy_home(limit, now_ms)
    end
    if limit.tokens > 0 and #limit.rate == 4 then
      buckets.sweep(limit, most, now_us)
    end
  end
end

-- Drops a few turns, slots and notes where they are void.
function by_keys.drop_void(most, now_ms)
  for _, member in ipairs(redis.call('ZRANDMEMBER', keys.lines, most)) do
    local kind, id = string.sub(member, 1, 1), string.sub(member, 18)
    if kind == 's' then
      local ends = redis.call('ZSCORE', keys.leases, id)
      if not ends or tonumber(ends) <= now_ms then
        redis.call('ZREM', keys.lines, member)
      end
    elseif (kind == 'c' or kind == 'g') and redis.call('HEXISTS', keys.deliveries, id) == 0 then
      redis.call('ZREM', keys.lines, member)
    elseif kind == 'p' and redis.call('HEXISTS', keys.deliveries, string.sub(member, 10)) == 0 then
      local _, turn = by_keys.forget_parked(string.sub(member, 10))
      drop_turns({turn})
      redis.call('ZREM', keys.lines, member)
    elseif kind == 'k' then
      call_next_of_key(string.sub(member, 1, 17), now_ms, true)
    elseif kind == 'w' and not state_of(member, now_ms) then
      drop_turn(member)
    end
  end
end
