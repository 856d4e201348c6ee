-- What the looks at a queue have in common.

-- The figures of a reply: the name of each, and what is known of it.
local told = {}

local function tell(name, figure)
  if figure then
    told[#told + 1], told[#told + 2] = name, figure
  end
end

-- The ids of leases that are held: of a number of those that end first, and of those that end last.
local function outermost_leases(now_ms, most)
  local now = string.format('(%.0f', now_ms)
  return {
    redis.call('ZRANGEBYSCORE', keys.leases, now, '+inf', 'LIMIT', 0, most),
    redis.call('ZREVRANGEBYSCORE', keys.leases, '+inf', now, 'LIMIT', 0, most),
  }
end
