-- The digest of a value in records.
local function digest_of(value)
  return string.sub(redis.sha1hex(value), 1, 32)
end
