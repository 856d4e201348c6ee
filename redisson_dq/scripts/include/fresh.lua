-- Looks for an entry among the last of the list of envelopes, where fresh entries stand.
-- KEYS: envelopes
-- LPOS looks for an entry that is found nowhere else in so large a part of the list.
local FRESH_PART = 8

-- The place of a member among so many at the end of the list, or nil.
local function place_among_last(member, most)
  return redis.call('LPOS', keys.envelopes, member, 'RANK', -1, 'MAXLEN', most) or nil
end
