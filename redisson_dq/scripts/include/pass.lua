-- Reads the keys of due entries, and their places in the envelope list, for a pass.
-- INCLUDE: clock, budget, hints, places, reads
--
-- The calls of a pass go through the list from its end to its front, a slice each. They change nothing, and answer with
-- places. Entries that others take out of the list meanwhile make them pass over none, as they go to the front.

-- A key is read. An entry of a slice is compared with the wanted keys, or its key is noted.
local KEY_US, NAMED_US, LISTED_US = 1, 0.5, 0.75
-- How many us a call takes. How many entries a pass is for.
local SLICE_US, WANTED = 12000, 100000

-- Whether a call of a pass has done enough, by the estimate or by the clock.
local function is_slice_over(spent_us, now_us)
  return spent_us > SLICE_US / slowness or server_time() > now_us + SLICE_US
end

-- The keys of due entries, in due order, from a rank on, as many as there is time for. Also returns how many a pass is
-- for.
local function keys_from(rank, pending, now_us)
  local packed, total = {}, math.min(pending, WANTED)
  local count, spent_us, bytes = math.min(READ, FIRST_READ), 0, nil
  repeat
    local found = redis.call('ZRANGE', keys.timeout, rank, math.min(rank + count, total) - 1)
    for _, member in ipairs(found) do
      packed[#packed + 1] = key_of(member)
    end
    rank = rank + #found
    bytes, count = next_read(found, READ)
    spent_us = spent_us + #found * KEY_US + bytes * BYTE_US
  until rank >= total or is_slice_over(spent_us, now_us)
  return {'keys', table.concat(packed), total}
end

-- One slice of a pass, from the end of the list or the place before the last slice. Returns its first place, then of
-- each wanted entry the key and the place, or where none is named all keys of the slice. It ends where all that is
-- named was found.
local function slice(before, named, now_us)
  local wanted, parts, left = {}, {}, math.floor(#named / 8)
  for at = 1, #named, 8 do
    wanted[string.sub(named, at, at + 7)] = true
  end
  local size = redis.call('LLEN', keys.envelopes)
  local first = math.min(before or size, size)
  local each_us = #named > 0 and NAMED_US or LISTED_US
  local count, spent_us, bytes = math.min(READ, FIRST_READ), 0, nil
  while first > 0 do
    local last, found = first - 1, {}
    first = math.max(0, first - count)
    local members = redis.call('LRANGE', keys.envelopes, first, last)
    for i, member in ipairs(members) do
      local key = key_of(member)
      if #named == 0 then
        found[i] = key
      elseif wanted[key] then
        found[#found + 1] = key .. struct.pack('<I4', first + i - 1)
      end
    end
    table.insert(parts, 1, table.concat(found))
    bytes, count = next_read(members, READ)
    spent_us = spent_us + #members * each_us + bytes * BYTE_US
    left = left - (#named > 0 and #found or 0)
    if is_slice_over(spent_us, now_us) or #named > 0 and left <= 0 then
      break
    end
  end
  return {string.format('%.0f', first), table.concat(parts)}
end
