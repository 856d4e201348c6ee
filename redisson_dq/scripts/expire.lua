-- Gives every key of a queue's side a time to live.
-- Answers to: RExpirable.expire(...), expireAt(...), expireIfSet(...) and the like, since 1.0
-- KEYS: any
-- ARGV: "in" or "at", ms (from now, or epoch), "always", "set", "not_set", "greater" or "less"
-- RETURN: 1 if any key has it now, else 0
-- COST: O(1)
-- INCLUDE: clock, expiry, capacity_note, first_write
change_nothing(function() redis.call('LPOP', KEYS[1], 0) end)
local at, when, done = tonumber(ARGV[2]), ARGV[3], 0
if ARGV[1] == 'in' then
  local _, now_ms = server_time()
  at = now_ms + at
end
for _, key in ipairs(KEYS) do
  local ends = vanishes_at(key)
  -- As the NX, XX, GT and LT of Redis 7, where a key without a time to live counts as one that lives for ever.
  local wanted = when == 'always'
    or when == 'not_set' and ends == -1
    or when == 'set' and ends >= 0
    or when == 'greater' and ends >= 0 and at > ends
    or when == 'less' and (ends == -1 or at < ends)
  if wanted and ends ~= -2 then
    done = math.max(done, redis.call('PEXPIREAT', key, string.format('%.0f', at)))
    -- The key ends without notice, and another capacity may be set then.
    forget_capacity(key)
  end
end
return done
