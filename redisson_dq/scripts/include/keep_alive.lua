-- Keeps keys for as long as they matter.
local DAY = 86400000

-- The keys go a day after the last time that matters, should no script of ours run any more.
local function keep_alive(at, now_ms, names)
  for _, key in ipairs(names) do
    if redis.call('PTTL', key) < at - now_ms + DAY then
      redis.call('PEXPIRE', key, string.format('%.0f', at - now_ms + 2 * DAY))
    end
  end
end
