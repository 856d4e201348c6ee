-- Sets aside undeliverable entries.
-- INCLUDE: forms, newer_entry
--
--   quarantine  members in no envelope format, each after its score
--   newer       members in the current format whose ids are longer than any that this version knows -> due. The version
--               that knows them takes them back (transfer.lua)

-- Returns how many went into quarantine: 1 or 0.
local function set_aside(member)
  local due = redis.call('ZSCORE', keys.timeout, member)
  if is_newer(member) then
    redis.call('ZADD', keys.newer, 'NX', due or 0, member)
    newer.newer = string.byte(member, 1)
    return 0
  end
  redis.call('RPUSH', keys.quarantine, (due or '') .. ' ' .. member)
  return 1
end
