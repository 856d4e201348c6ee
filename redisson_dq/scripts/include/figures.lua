-- Counts the contents of a queue. A key that holds another type is reported, and counts nothing.
-- INCLUDE: count_held, find, expiry, int, delivery_record, looks

local SIZES = {
  hash = function(key) return redis.call('HLEN', key) end,
  list = function(key) return redis.call('LLEN', key) end,
  stream = function(key) return redis.call('XLEN', key) end,
  string = function() return 1 end,
  zset = function(key) return redis.call('ZCARD', key) end,
}
local is_wrong, size_of = {}, {}

-- Of each key that is there: its number, its type, its size, and the results of the argument more for it. ARGV has the
-- type that each has to have.
local function keys_there(more)
  local rows = {}
  for i, key in ipairs(KEYS) do
    local kind = redis.call('TYPE', key).ok
    if kind ~= 'none' and ARGV[i] ~= '' then
      is_wrong[key] = kind ~= ARGV[i]
      size_of[key] = is_wrong[key] and 0 or SIZES[kind](key)
      rows[#rows + 1] = {i, kind, size_of[key], more(key)}
    end
  end
  return rows
end

-- Whether there is something of the right type in each of these keys.
local function stand(...)
  for _, key in ipairs({...}) do
    if is_wrong[key] or not size_of[key] then
      return false
    end
  end
  return true
end

-- Whether as many entries as leases are due at this time. It reads no entry. So another entry that is due at that very
-- time is taken for the one of a lease.
local function some_at(_, due)
  return redis.call('ZCOUNT', keys.timeout, due, due) >= redis.call('ZCOUNT', keys.leases, due, due)
end

-- When the first value that waits is due, however many leases end before, or nil. The argument head: the score of the first entry. The argument held: how many leases are held.
-- The argument gone: how many leases before these have no entry any more. Counting by scores reads no entry. The search
-- ends with the last lease: the first entry after it is one that waits.
local function next_waiting(head, held, gone, now_ms)
  if not head or held == 0 or tonumber(head) <= now_ms then
    return head
  end
  local from = '(' .. int(now_ms)
  local function is_due_by(ms)
    local till = int(ms)
    local leases = redis.call('ZCOUNT', keys.leases, from, till) - gone
    return redis.call('ZCOUNT', keys.timeout, from, till) > math.max(0, math.min(held, leases))
  end
  local last = redis.call('ZREVRANGEBYSCORE', keys.leases, '+inf', from, 'WITHSCORES', 'LIMIT', 0, 1)[2]
  if not is_due_by(tonumber(last)) then
    return redis.call('ZRANGEBYSCORE', keys.timeout, '(' .. last, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)[2]
  end
  return int(bisect(now_ms + 1, tonumber(last), is_due_by))
end

-- How much waits and is held, and when the first is due. The argument most is how many leases without an entry it looks
-- for at each end, without reading entries. Returns how many are held, how many leases without an entry end before, and
-- the first member.
local function tell_waiting(now_ms, most)
  local held, gone = 0, 0
  if not stand(keys.timeout) then
    return held, gone, nil
  end
  if stand(keys.leases) then
    held, gone = count_held(most, most and some_at)
  end
  local head = redis.call('ZRANGE', keys.timeout, 0, 0, 'WITHSCORES')
  tell('held', held)
  tell('overdue', redis.call('ZCOUNT', keys.timeout, '-inf', now_ms))
  tell('head', head[2])
  tell('next', next_waiting(head[2], held, gone, now_ms))
  return held, gone, head[1]
end

-- When a value was last received, where values are ready: that shows that consumers make progress.
local function tell_receipt(now_ms)
  if not stand(keys.leases, keys.deliveries) or (size_of[keys.ready] or 0) == 0 then
    return
  end
  local last = 0
  for _, ids in ipairs(outermost_leases(now_ms, 50)) do
    for _, text in ipairs(#ids > 0 and redis.call('HMGET', keys.deliveries, unpack(ids)) or {}) do
      local d = parsed(text)
      last = math.max(last, d and d.received or 0)
    end
  end
  tell('last_receipt', last > 0 and string.format('%.0f', last))
end

-- How many values limits by key have parked (by_key.lua).
local function tell_parked()
  if stand(keys.lines) then
    tell('parked', redis.call('ZLEXCOUNT', keys.lines, '[p', '(q'))
  end
end

-- Whether the queue is paused, how many values have expired, how many occurrences were missed, which client is the mover.
local function tell_state()
  if stand(keys.settings) then
    for i, value in ipairs(redis.call('HMGET', keys.settings, 'paused', 'max_size', 'expired', 'missed')) do
      tell(({'paused', 'max_size', 'expired', 'missed'})[i], value)
    end
  end
  if stand(keys.mover) then
    tell('mover', redis.call('GET', keys.mover))
    tell('mover_until', vanishes_at(keys.mover))
  end
  -- Not every user may ask for it.
  tell('subscribers', redis.pcall('PUBSUB', 'NUMSUB', keys.channel)[2])
end
