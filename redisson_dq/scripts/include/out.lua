-- Takes one entry out.
-- KEYS: timeout, envelopes
-- INCLUDE: unlearn, find, envelope

-- 1 or -1, the end of the list that an entry is nearer to. Ids of ours grow with the offers. Java's are random, and it
-- does not matter which end is told.
local function nearer_end(id)
  local middle = math.floor(redis.call('LLEN', keys.envelopes) / 2)
  local _, other = unwrap(redis.call('LINDEX', keys.envelopes, middle) or '')
  return other and compare(id, other) > 0 and -1 or 1
end

-- A lean entry, whose id has nine bytes, stands in no list, so none is searched for it.
local function take_out(id, member)
  local from = #id == 8 and nearer_end(id)
  unlearn(id)
  if from then
    redis.call('LREM', keys.envelopes, from, member)
  end
  redis.call('ZREM', keys.timeout, member)
end
