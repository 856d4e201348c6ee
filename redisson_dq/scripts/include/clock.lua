-- The server's time: in epoch us, in whole epoch ms that have passed, and rounded up to the next.
local function server_time()
  local time = redis.call('TIME')
  local now_us = time[1] * 1000000 + time[2]
  return now_us, math.floor(now_us / 1000), math.ceil(now_us / 1000)
end

-- A due time as the calls give it: '250' is ms from now, '@1700000000000' epoch ms.
local function due_of(word, now_ms_up)
  if string.byte(word) == 64 then
    return tonumber(string.sub(word, 2))
  end
  return now_ms_up + word
end
