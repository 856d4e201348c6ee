-- Finds the recurring offers whose occurrence has come, up to a number: id, definition and due of each in turn.
local function occurrences(now_ms, most)
  local found = {}
  local come = redis.call('ZRANGEBYSCORE', keys.recurring_due, '-inf', now_ms, 'WITHSCORES', 'LIMIT', 0, most)
  for i = 1, #come, 2 do
    local id, definition = come[i], redis.call('HGET', keys.recurring, 'd' .. come[i])
    if definition and redis.call('HEXISTS', keys.recurring, 'v' .. id) == 1 then
      found[#found + 1] = id
      found[#found + 1] = definition
      found[#found + 1] = come[i + 1]
    else
      -- Redis evicted the hash, or somebody deleted it. No occurrence can follow then.
      redis.call('ZREM', keys.recurring_due, id)
    end
  end
  return found
end
