-- Keeps keys for as long as they matter.
local DAY = 86400000

-- The keys expire a day after the last time that matters, in case no script of ours runs any more.
local function keep_alive(at, now_ms, names)
  for _, key in ipairs(names) do
    if redis.call('PTTL', key) < at - now_ms + DAY then
      redis.call('PEXPIRE', key, string.format('%.0f', at - now_ms + 2 * DAY))
    end
  end
end
