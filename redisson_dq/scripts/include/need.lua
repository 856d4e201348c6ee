-- Asks for rights before the first write, as a script that is refused a later command leaves its work half done.

-- Each argument is a list of commands. Redis 6.2 cannot be asked. There the client's error says that the work may be
-- half done.
local function need(...)
  local ask, key = redis.acl_check_cmd, KEYS[1]
  for i = 1, ask and select('#', ...) or 0 do
    local commands = select(i, ...)
    for j = 1, #commands do
      -- Whether the user may use the keys was checked when the script was called. No command takes more than two.
      if not ask(commands[j], key, key, key) then
        error({err = 'NOPERM ' .. commands[j] .. ' is refused, and nothing was done'})
      end
    end
  end
end
