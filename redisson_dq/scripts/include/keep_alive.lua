-- Keeps keys for as long as they matter.
local DAY_MS = 86400000

-- The keys get no end. A server that is full evicts keys with an end first, unless its policy is noeviction, and promises
-- rest on these. Their content is dropped when its time is over (tidy.lua). Earlier versions gave them an end, which
-- is taken away. Without the right to PERSIST it is put off, as these versions did.
local endless = {}
local function keep_alive(at, now_ms, names)
  for _, key in ipairs(names) do
    local left = endless[key] or redis.call('PTTL', key)
    endless[key] = left == -1 and left or nil
    if left >= 0 and type(redis.pcall('PERSIST', key)) ~= 'number' and left < at - now_ms + DAY_MS then
      redis.call('PEXPIRE', key, string.format('%.0f', at - now_ms + 2 * DAY_MS))
    end
  end
end
