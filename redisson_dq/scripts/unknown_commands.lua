-- Finds out which of some commands the server does not know.
-- KEYS: any
-- ARGV: the commands
-- RETURN: those that the server does not know
-- COST: O(k), k commands
local unknown = {}
for _, command in ipairs(ARGV) do
  -- Without arguments nothing is carried out but TIME: the server refuses the number of arguments.
  local reply = redis.pcall(command)
  if type(reply) == 'table' and type(reply.err) == 'string' and string.find(string.lower(reply.err), 'unknown', 1, true) then
    unknown[#unknown + 1] = command
  end
end
return unknown
