-- Fails on keys of a wrong type, before anything is written: lists, sorted sets and hashes.
local function check_types(lists, zsets, hashes)
  for _, key in ipairs(lists) do
    redis.call('LLEN', key)
  end
  for _, key in ipairs(zsets) do
    redis.call('ZCARD', key)
  end
  for _, key in ipairs(hashes or {}) do
    redis.call('HLEN', key)
  end
end
