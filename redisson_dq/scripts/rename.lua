-- Gives every key of a queue's side a new name, all of them or none.
-- Answers to: RObject.rename(String), renamenx(String), since 1.0
-- KEYS: any
-- ARGV: "always", or "if_free": only when no new name is taken; the channel on which clients of the new name are woken (or "")
-- RETURN: 1 if renamed, 0 if a new name is taken, -1 if there is no key to rename
-- COST: O(1) for each key, and the size of what is replaced
-- INCLUDE: need, announce, capacity_note, first_write
local count = math.floor(#KEYS / 2)
local present = {}
for i = 1, count do
  if redis.call('EXISTS', KEYS[i]) == 1 then
    present[#present + 1] = i
  end
end
if #present == 0 then
  change_nothing(function() redis.call('LPOP', KEYS[1], 0) end)
  return reply_with(-1)
end
if ARGV[1] == 'if_free' and redis.call('EXISTS', unpack(KEYS, count + 1)) > 0 then
  return reply_with(0)
end
need({'RENAME'})
redis.call('DEL', unpack(KEYS, count + 1))
for i = count + 1, #KEYS do
  forget_capacity(KEYS[i])
end
for _, i in ipairs(present) do
  local noted = noted_capacity(KEYS[i])
  redis.call('RENAME', KEYS[i], KEYS[count + i])
  forget_capacity(KEYS[i])
  forget_capacity(KEYS[count + i])
  note_capacity(KEYS[count + i], noted)
end
-- 0 is a time that has passed: every client looks at once.
if ARGV[2] ~= '' then
  announce(ARGV[2], 0)
end
return reply_with(1)
