-- Begins with a write that changes nothing, for scripts that free memory, and for those that may find nothing to do.

-- Redis refuses a script's first write if it may need memory, and no later one. So the first is a write that needs
-- none: the caller names one that changes nothing. Without the right to it the script works all the same while there
-- is memory.
--
-- A replica refuses it. A replica that lags behind its master, as after a failover, would answer that a lease or an
-- item is not there. Its error has the client ask the master.
local function change_nothing(write)
  local done, failure = pcall(write)
  -- A text before Redis 7, and a table from there on.
  if not done and string.find(failure.err or failure, 'READONLY', 1, true) then
    write()
  end
end
