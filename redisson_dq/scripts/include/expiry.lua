-- Finds out when a key vanishes, in epoch ms: -1 if it has no end, -2 if there is no key.
-- INCLUDE: clock
local function vanishes_at(key)
  local at = redis.pcall('PEXPIRETIME', key)
  if type(at) == 'number' then
    return at
  end
  -- Redis 6.2 has no such command. The clock goes on inside a script, so it has to be the same before and after.
  while true do
    local _, before = server_time()
    local left = redis.call('PTTL', key)
    local _, after = server_time()
    if left < 0 then
      return left
    elseif before == after then
      return before + left
    end
  end
end
