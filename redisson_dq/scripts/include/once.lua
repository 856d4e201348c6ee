-- Makes a change once, however often its call is sent again because its reply was lost.
-- KEYS: returned

-- A day: for so long a call may come again.
local REMEMBERED_MS = 86400000

-- Whether this call was carried out before. Notes it, and drops the note of the call that its sender knows the end of.
local function was_done(nonce, known, now_ms)
  if known ~= '' then
    redis.call('ZREM', keys.returned, known)
  end
  redis.call('ZREMRANGEBYSCORE', keys.returned, '-inf', now_ms - REMEMBERED_MS)
  local done = redis.call('ZADD', keys.returned, 'NX', now_ms, nonce) == 0
  redis.call('PEXPIRE', keys.returned, REMEMBERED_MS)
  return done
end

local WRITES_NOTES = {'ZREM', 'ZREMRANGEBYSCORE', 'ZADD', 'PEXPIRE'}
