-- Counts the tokens of a rate, on the server's clock.
-- INCLUDE: shared_limit
--
--   turns    'b' .. rate    since when tokens are counted; how many there were then; until when values that wait for a
--                           token were given times. Times are in us
--
-- Tokens come evenly until the bucket is full. All numbers are whole, so rounding neither loses nor makes a token.

-- When a bucket has been full for so long, the values that were given times have left. Others need not wait behind
-- them.
local LEFT_US = 5000000

-- The bucket of a limit now: how many tokens it has, and until when times were given. The notes of a call that takes a
-- token are in from and level. The notes of a call that takes none are in noted_from and noted_level.
local function bucket_of(limit, now_us)
  local count, per_us, size = limit.tokens, limit.per_us, limit.size
  local text = redis.call('HGET', rate_key(limit.rate_home), 'b' .. limit.rate) or ''
  local from, level, booked = string.match(text, '^(%d+) (%-?%d+) (%d+)$')
  from, level, booked = tonumber(from), tonumber(level), tonumber(booked)
  -- After a step back of the clock the noted time tells nothing.
  if not from or from > now_us or level > size then
    return {tokens = size, booked = now_us, from = now_us, level = size, noted_from = now_us, noted_level = size}
  end
  local tokens = level + math.floor((now_us - from) * count / per_us)
  if tokens >= size then
    if from + math.ceil((size - level) * per_us / count) + LEFT_US < now_us then
      booked = now_us
    end
    -- A full bucket gets none. But the value that was given a time comes a moment after it, and the next token is on its
    -- way since then. Otherwise the value behind it would find none.
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

local function write_bucket(limit, from, level, booked)
  redis.call('HSET', rate_key(limit.rate_home), 'b' .. limit.rate, string.format('%.0f %.0f %.0f', from, level, booked))
end
