-- Takes values out of the ready list: those whose bytes equal one of ARGV from 3 on, or none. The argument gone is called
-- with each value and how many there were.
-- KEYS: ready

local function remove_values(gone)
  for i = 3, #ARGV do
    gone(ARGV[i], redis.call('LREM', keys.ready, 0, ARGV[i]))
  end
end

-- The list is turned round once: values that stay go to the end, in their order.
local function retain_values(gone)
  local kept = {}
  for i = 3, #ARGV do
    kept[ARGV[i]] = true
  end
  for _ = 1, redis.call('LLEN', keys.ready) do
    local value = redis.call('LPOP', keys.ready)
    if kept[value] then
      redis.call('RPUSH', keys.ready, value)
    else
      gone(value, 1)
    end
  end
end

-- The values at these indexes stay.
local function trim_values(first, last, gone, tells)
  local before = tells and redis.call('LRANGE', keys.ready, 0, -1) or {}
  redis.call('LTRIM', keys.ready, first, last)
  local left = tells and redis.call('LLEN', keys.ready) or 0
  local from = tonumber(first) < 0 and math.max(0, #before + first) or tonumber(first)
  for i, value in ipairs(before) do
    if i <= from or i > from + left then
      gone(value, 1)
    end
  end
end
