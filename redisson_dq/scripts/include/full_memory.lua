-- Lets a script that frees memory go on when the server has reached its maxmemory.

-- Redis refuses a script's first write if it may need memory, and no later one. So the first is a write that needs
-- none: the caller names one that changes nothing. Without the right to it the script works all the same while there
-- is memory.
local function despite_full_memory(command, ...)
  redis.pcall(command, ...)
end
