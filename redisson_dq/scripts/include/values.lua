-- Takes values out of the ready list: those whose bytes equal one of ARGV from 2 on, or none.
-- KEYS: ready

local function remove_values()
  for i = 2, #ARGV do
    redis.call('LREM', keys.ready, 0, ARGV[i])
  end
end

-- The list is turned round once: values that stay go to the end, in their order.
local function retain_values()
  local kept = {}
  for i = 2, #ARGV do
    kept[ARGV[i]] = true
  end
  for _ = 1, redis.call('LLEN', keys.ready) do
    local value = redis.call('LPOP', keys.ready)
    if kept[value] then
      redis.call('RPUSH', keys.ready, value)
    end
  end
end
