-- Finds out where an entry is in the list of envelopes: when it was offered, and whether it is among the last.
--
-- Ids of ours grow with the offers. Java's are random, and one of 70 looks like one of ours.
local YEAR_US = 31536000 * 1000000

-- When an entry was offered, in us, and its number in that us; nil for one that is none of ours.
local function offered(member, now_us)
  local at = string.byte(member, 1) == 8 and 2 or 1
  if #member < at + 15 or struct.unpack('<I8', member, at + 8) ~= #member - at - 15 then
    return nil
  end
  local high, low = struct.unpack('>I4I4', member, at)
  local us = high * 1048576 + math.floor(low / 4096)
  if us > now_us + YEAR_US or us < now_us - YEAR_US then
    return nil
  end
  return us, low % 4096
end

-- LPOS looks in a part of the list of this size for an entry that is found nowhere else.
local FRESH_PART = 8

-- The place of a member among a number of entries at the end of the list, or nil.
local function place_among_last(member, most)
  return redis.call('LPOS', keys.envelopes, member, 'RANK', -1, 'MAXLEN', most) or nil
end
