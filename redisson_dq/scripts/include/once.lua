-- Makes a change once, however often its call is sent again because its reply was lost.
-- INCLUDE: keep_alive

-- Whether this call was carried out before. Notes the call for a day, as long as it may be sent again, and drops the note of
-- an earlier call whose reply has come.
local function was_done(nonce, known, now_ms)
  if known ~= '' then
    redis.call('ZREM', keys.returned, known)
  end
  redis.call('ZREMRANGEBYSCORE', keys.returned, '-inf', now_ms - DAY_MS)
  local done = redis.call('ZADD', keys.returned, 'NX', now_ms, nonce) == 0
  keep_alive(now_ms + DAY_MS, now_ms, {keys.returned})
  return done
end

local WRITES_NOTES = {'ZREM', 'ZREMRANGEBYSCORE', 'ZADD', 'PEXPIRE', 'PTTL'}
