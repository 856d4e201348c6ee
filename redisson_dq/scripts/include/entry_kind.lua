-- Finds out which kind of entry a member is.
-- INCLUDE: envelope, newer_entry

-- 'current' or 'legacy' for a mirrored entry, 'lean', 'lease', 'newer', or 'unknown'.
local function entry_kind(member, some_leased)
  local _, id = unwrap(member)
  if not id then
    return is_newer(member) and 'newer' or 'unknown'
  elseif #id == 9 then
    return 'lean'
  elseif #id == 10 or some_leased and redis.call('ZSCORE', keys.leases, id) then
    return 'lease'
  end
  -- Of the current format is whatever its first byte and its length say.
  local is_current = string.byte(member) == 8 and #member >= 17 and struct.unpack('L', member, 10) == #member - 17
  return is_current and 'current' or 'legacy'
end
