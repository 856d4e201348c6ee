-- Sets aside undeliverable entries.
-- KEYS: timeout, quarantine, newer
-- INCLUDE: forms
--
--   quarantine  members in no envelope format, each behind its score
--   newer       members in the current format whose ids are longer than any that this version knows -> due. The version
--               that knows them takes them back (transfer.lua)

-- Whether a newer version wrote a member that unwrap cannot read.
local function is_newer(member)
  local size, id_size = #member, string.byte(member, 1)
  return id_size and id_size > 10 and size >= 9 + id_size and struct.unpack('L', member, 2 + id_size) == size - 9 - id_size
end

-- Gives how many went into quarantine: 1 or 0.
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
