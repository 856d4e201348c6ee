-- Copies every key of a queue's side, all of them or none.
-- Answers to: RObject.copy(String), copyAndReplace(String), since 3.18
-- KEYS: any
-- ARGV: "if_free": only when no new name is taken, or "replace"; the channel on which clients of the new name are woken (or "")
-- RETURN: 1 if copied, else 0
-- COST: O(n), n the size of the keys
-- INCLUDE: need, announce, capacity_note, first_write
need({'COPY', 'UNLINK'})
change_nothing(function() redis.call('LPOP', KEYS[1], 0) end)
local count = math.floor(#KEYS / 2)
if redis.call('EXISTS', unpack(KEYS, 1, count)) == 0 then
  -- Then the keys under the new name stay as they are.
  return reply_with(0)
elseif ARGV[1] == 'replace' then
  redis.call('UNLINK', unpack(KEYS, count + 1))
elseif redis.call('EXISTS', unpack(KEYS, count + 1)) > 0 then
  return reply_with(0)
end
for i = 1, count do
  redis.call('COPY', KEYS[i], KEYS[count + i])
  forget_capacity(KEYS[count + i])
  note_capacity(KEYS[count + i], noted_capacity(KEYS[i]))
end
-- 0 is a time that has passed: every client looks at once.
if ARGV[2] ~= '' then
  announce(ARGV[2], 0)
end
return reply_with(1)
