-- Returns the newer forms that a call has met, and those that earlier calls have set aside: the name of the key and the
-- form, in turn. The argument may_stand: whether an entry may have been set aside before.
-- INCLUDE: forms
local function newer_met(may_stand)
  local first = may_stand and redis.call('ZRANGE', keys.newer, 0, 0)[1]
  if first then
    newer.newer = string.byte(first)
  end
  local told = {}
  for name, form in pairs(newer) do
    told[#told + 1], told[#told + 2] = name, form
  end
  return told
end
