-- Counts the tokens of a rate, on the server's clock.
-- INCLUDE: eight_bytes, shared_limit
--
--   turns    'b' .. rate     since when tokens are counted; how many there were then; until when values that wait for a
--                            token were given times. Times are in us
--            'q' .. queue    of a shared rate: a queue in which values wait for a token
--
-- A rate by key has a bucket for each key. In redisson_dq_slots of its home:
--            'i' .. time .. rate   a bucket to be looked at then, in epoch ms: it may be full, and is dropped
--            'r' .. queue          a queue in which values wait for a token
--
-- Tokens come evenly until the bucket is full. All numbers are whole, so rounding neither loses nor makes a token.

-- When a bucket has been full for this time, the values that were given times have left. Others need not wait for them.
local buckets = {LEFT_US = 5000000}

function buckets.note_queue(limit)
  if homes.is_by_key(limit.rate_home) then
    redis.call('ZADD', slots_key(limit.rate_home), 0, 'r' .. keys.ready)
  elseif limit.rate_home ~= '' then
    redis.call('HSET', rate_key(limit.rate_home), 'q' .. keys.ready, '')
  end
end

-- The latest time that values were given: no more values wait for a token than wait in these queues in all. The noted
-- time may be that of a slower rate, or of a program that is none of ours.
function buckets.plausible(limit, booked, now_us)
  local interval = limit.per_us / limit.tokens
  local function least(waiting)
    return math.min(booked, now_us + math.ceil(interval * (waiting + 1)))
  end
  local own = redis.call('ZCARD', keys.timeout)
  if limit.rate_home == '' or least(own) == booked then
    return least(own)
  end
  -- Without the right to see the other queues their values come for a token more often.
  local waiting = own
  local queues = homes.is_by_key(limit.rate_home)
    and redis.pcall('ZRANGEBYLEX', slots_key(limit.rate_home), '[r', '(s', 'LIMIT', 0, 100)
    or redis.pcall('HRANDFIELD', rate_key(limit.rate_home), 100)
  for _, field in ipairs(queues) do
    local queue = string.match(field, '^[qr](.+)$')
    if queue and queue ~= keys.ready then
      waiting = waiting + (tonumber(redis.pcall('ZCARD', key_of_queue('redisson_delay_queue_timeout', queue))) or 0)
    end
  end
  return least(waiting)
end

-- The numbers in the note of a bucket, or nothing.
function buckets.noted(limit, rate)
  local text = redis.call('HGET', rate_key(limit.rate_home), 'b' .. rate) or ''
  local from, level, booked = string.match(text, '^(%d+) (%-?%d+) (%d+)$')
  return tonumber(from), tonumber(level), tonumber(booked)
end

-- The bucket of a limit now: how many tokens it has, and until when times were given. The notes of a call that takes a
-- token are in from and level. The notes of a call that takes none are in noted_from and noted_level.
function buckets.of(limit, now_us)
  local count, per_us, size = limit.tokens, limit.per_us, limit.size
  local from, level, booked = buckets.noted(limit, limit.rate)
  -- After a step back of the clock the noted time is useless.
  if not from or from > now_us or level > size then
    return {tokens = size, booked = now_us, from = now_us, level = size, noted_from = now_us, noted_level = size}
  end
  booked = buckets.plausible(limit, booked, now_us)
  -- No call of this rate owes more than the tokens of one span. Those of a faster one may.
  if level < -count then
    from, level = now_us, 0
  end
  local tokens = level + math.floor((now_us - from) * count / per_us)
  if tokens >= size then
    if from + math.ceil((size - level) * per_us / count) + buckets.LEFT_US < now_us then
      booked = now_us
    end
    -- A full bucket gets none. But the value that was given a time comes a moment after it, and the next token is on
    -- its way since then. Otherwise the next value would find none.
    local since = booked > now_us and from + math.ceil((tokens - level) * per_us / count) or now_us
    return {
      tokens = size, booked = math.max(booked, now_us), from = since, level = size, noted_from = from,
      noted_level = level,
    }
  end
  -- Whole spans are counted off, so that the numbers stay small.
  local spans = math.floor((now_us - from) / per_us)
  from, level = from + spans * per_us, level + spans * count
  return {
    tokens = tokens, booked = math.max(booked, now_us), from = from, level = level, noted_from = from,
    noted_level = level,
  }
end

-- When a bucket equals one without a note.
function buckets.idle_at(limit, from, level, booked, now_us)
  if from > now_us then
    return now_us
  end
  return math.max(booked, from + math.ceil((limit.size - level) * limit.per_us / limit.tokens) + buckets.LEFT_US)
end

function buckets.note(limit, rate, at_us)
  redis.call('ZADD', slots_key(limit.rate_home), 0, 'i' .. eight_bytes(math.ceil(at_us / 1000)) .. rate)
end

function buckets.write(limit, from, level, booked, now_us)
  local text = string.format('%.0f %.0f %.0f', from, level, booked)
  local is_new = redis.call('HSET', rate_key(limit.rate_home), 'b' .. limit.rate, text) == 1
  if is_new and homes.is_by_key(limit.rate_home) then
    buckets.note(limit, limit.rate, buckets.idle_at(limit, from, level, booked, now_us))
  end
end

-- Drops the buckets of keys that are idle, up to a number. One that is not is looked at again.
function buckets.sweep(limit, most, now_us)
  local key, high = slots_key(limit.rate_home), '(i' .. eight_bytes(math.floor(now_us / 1000))
  for _, member in ipairs(redis.call('ZRANGEBYLEX', key, '[i', high, 'LIMIT', 0, most)) do
    local rate = string.sub(member, 10)
    local from, level, booked = buckets.noted(limit, rate)
    local at = from and buckets.idle_at(limit, from, level, booked, now_us) or 0
    redis.call('ZREM', key, member)
    if at < now_us then
      redis.call('HDEL', rate_key(limit.rate_home), 'b' .. rate)
    else
      buckets.note(limit, rate, at + 1000)
    end
  end
end
