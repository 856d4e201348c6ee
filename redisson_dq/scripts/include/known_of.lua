-- Finds the records of values that were delivered before, or that have a context.

-- Members of histories for the values with this digest, a few of them. Records whose values are ready come first.
local function known_of(digest)
  return redis.call('ZRANGEBYLEX', keys.histories, '[' .. digest, '[' .. digest .. '\255', 'LIMIT', 0, 8)
end

-- Whether the entry with this id and value waits.
local function stands(id, value)
  if redis.call('ZSCORE', keys.timeout, struct.pack('Bc0<I8', #id, id, #value) .. value) then
    return true
  end
  return #id == 8 and redis.call('ZSCORE', keys.timeout, struct.pack('c0<I8', id, #value) .. value)
end
