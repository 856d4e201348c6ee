-- Recognises members that another program wrote into a zset of ours, and sets them aside.

-- Whether a text may be the id of an entry (8 or 9 bytes) or of a lease (8 or 10 bytes).
local function is_id(text)
  return #text >= 8 and #text <= 10
end

-- Moves a foreign member of a zset to the quarantine, with its bytes. It stays in its place where that list is of another
-- type.
local function set_foreign_aside(key, member, score)
  if type(redis.pcall('RPUSH', keys.quarantine, score .. ' ' .. member)) == 'number' then
    redis.call('ZREM', key, member)
  end
end

-- Where members are found by their bytes all scores are 0. A member with another score would hide them.
local function set_scored_aside(key)
  for _, bounds in ipairs({{'-inf', '(0'}, {'(0', '+inf'}}) do
    local found = redis.call('ZRANGEBYSCORE', key, bounds[1], bounds[2], 'WITHSCORES', 'LIMIT', 0, 100)
    for i = 1, #found, 2 do
      set_foreign_aside(key, found[i], found[i + 1])
    end
  end
end
