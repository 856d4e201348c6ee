-- The server's time: in epoch us, and in whole epoch ms that have passed.
local function server_time()
  local time = redis.call('TIME')
  local now_us = time[1] * 1000000 + time[2]
  return now_us, math.floor(now_us / 1000)
end

-- A due time in epoch ms, as the calls give it: '250000' is us from now, '@1700000000000' epoch ms. Only the sum is
-- rounded, and up. Rounding clock and delay each would make it late by 1 ms on average instead of 0.5.
local function due_of(word, now_us)
  if string.byte(word) == 64 then
    return tonumber(string.sub(word, 2))
  end
  return math.ceil((now_us + word) / 1000)
end
