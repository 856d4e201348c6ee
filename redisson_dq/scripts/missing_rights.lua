-- Finds out which of some commands the user may not run.
-- KEYS: any
-- ARGV: the commands, a space before a subcommand
-- RETURN: those that are refused, or all of them on Redis 6.2, which cannot be asked
-- COST: O(k), k commands
-- A user may have no right to any key that is known here, and may ask nevertheless.
local key = KEYS[1] or 'redisson_dq:none'
local refused = {}
for _, command in ipairs(ARGV) do
  local words = {}
  for word in string.gmatch(command, '%S+') do
    words[#words + 1] = word
  end
  -- Redis wants all arguments of a command. A second name of SUBSCRIBE would be a second channel.
  for _ = #words, words[1] == 'SUBSCRIBE' and 1 or 2 do
    words[#words + 1] = key
  end
  if not redis.acl_check_cmd or not redis.acl_check_cmd(unpack(words)) then
    refused[#refused + 1] = command
  end
end
return refused
