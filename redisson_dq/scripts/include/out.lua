-- Takes one entry out.
-- KEYS: timeout, envelopes
-- INCLUDE: unlearn

-- A lean entry, whose id has nine bytes, stands in no list, so none is searched for it.
local function take_out(id, member)
  unlearn(id)
  if #id == 8 then
    redis.call('LREM', keys.envelopes, 1, member)
  end
  redis.call('ZREM', keys.timeout, member)
end
