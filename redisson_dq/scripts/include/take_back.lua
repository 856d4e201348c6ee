-- Takes back entries that a former version has set aside, and that this version knows.
-- KEYS: timeout, newer
-- INCLUDE: envelope

-- Some of them at a time. They keep their due times.
local function take_back()
  for _, member in ipairs(redis.call('ZRANGE', keys.newer, 0, 99)) do
    if unwrap(member) then
      redis.call('ZADD', keys.timeout, redis.call('ZSCORE', keys.newer, member), member)
      redis.call('ZREM', keys.newer, member)
    end
  end
end
