-- Makes every key of a queue's side from its serialized content, all of them or none.
-- Answers to: RObject.restore(byte[]), restoreAndReplace(byte[]), since 3.2
-- KEYS: any
-- ARGV: "if_free": only when no name is taken, or "replace"; time to live in ms (0: none); the channel on which clients are woken (or ""); what dump gave for each key
-- RETURN: 1 if restored, 0 if a name is taken
-- COST: O(n), n the size of the keys
-- INCLUDE: need, announce, capacity_note
local count = math.floor(#KEYS / 2)
if ARGV[1] == 'if_free' and redis.call('EXISTS', unpack(KEYS, 1, count)) > 0 then
  return reply_with(0)
end
need({'RENAME', 'UNLINK'})
-- The keys are made under other names first (the second half of KEYS). So content that Redis cannot read destroys
-- nothing.
for i = 1, count do
  if ARGV[i + 3] ~= '' then
    local made = redis.pcall('RESTORE', KEYS[count + i], ARGV[2], ARGV[i + 3], 'REPLACE')
    if made.err then
      redis.call('UNLINK', unpack(KEYS, count + 1))
      return made
    end
  end
end
redis.call('UNLINK', unpack(KEYS, 1, count))
for i = 1, count do
  if ARGV[i + 3] ~= '' then
    redis.call('RENAME', KEYS[count + i], KEYS[i])
  end
  -- A dump has no note of its capacity.
  forget_capacity(KEYS[i])
end
-- 0 is a time that has passed: every client looks at once.
if ARGV[3] ~= '' then
  announce(ARGV[3], 0)
end
return reply_with(1)
