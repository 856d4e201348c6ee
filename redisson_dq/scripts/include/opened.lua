-- Reads entries that are about to be taken out.
-- INCLUDE: envelope, newer_entry

-- The value and the id of each, where it can be read; its deadline, where it is a lease; those that are in the list of
-- envelopes, and their numbers. Lean entries, leases and entries of a newer version are in no list.
local function opened(members, leased)
  local values, ids, leases, listed, numbers = {}, {}, {}, {}, {}
  for i, member in ipairs(members) do
    local value, id = unwrap(member)
    values[i], ids[i] = value, id
    leases[i] = leased and id and #id ~= 9 and redis.call('ZSCORE', keys.leases, id)
    if id and #id == 8 and not leases[i] or not id and not is_newer(member) then
      listed[#listed + 1], numbers[#numbers + 1] = member, i
    end
  end
  return values, ids, leases, listed, numbers
end
