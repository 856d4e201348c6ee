-- Takes values out of the ready list, undelivered.
-- INCLUDE: take_away

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

-- Takes away 'some' that equal ARGV[4], as many as LREM takes for ARGV[3]; 'all' that equal one of ARGV from 3 on; the
-- 'others'; or by 'trim' those beyond the indexes ARGV[3] and ARGV[4].
local function take_values_away(which, remember_ms, now_ms)
  local named = begin_taking_away()
  local function gone(value, count)
    taken_away(named, value, count, remember_ms, now_ms)
  end
  if which == 'some' then
    gone(ARGV[4], redis.call('LREM', keys.ready, ARGV[3], ARGV[4]))
  elseif which == 'all' then
    for i = 3, #ARGV do
      gone(ARGV[i], redis.call('LREM', keys.ready, 0, ARGV[i]))
    end
  elseif which == 'others' then
    retain_values(gone)
  else
    trim_values(ARGV[3], ARGV[4], gone, named or events_kept)
  end
end
