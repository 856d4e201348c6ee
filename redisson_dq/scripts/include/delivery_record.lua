-- Reads and writes the record of one delivery, of a lease or of the next one of a value.
-- INCLUDE: eight_bytes
--
-- A record: attempt failures crashes first received offered due order digest, the length of the reason, then the reason
-- and the context. Times are epoch ms, 0 where none is known. The digest is followed by ':' and the turn of a value
-- that was parked or is in line (lines.lua).
local function record_text(d)
  -- Neither text is an argument of string.format, which would end it at its first NUL.
  return string.format(
    '%d %d %d %.0f %.0f %.0f %.0f %.0f %s %d ', d.attempt, d.failures, d.crashes, d.first, d.received, d.offered, d.due,
    d.order, d.turn and d.digest .. ':' .. d.turn or d.digest, #d.reason) .. d.reason .. d.context
end

-- The sum of nine numbers of at most 2 ^ 53 each.
local LARGEST = 9 * 2 ^ 53

-- nil for a text that is none of ours: it must hold up no call.
local function parsed(text)
  if not text then
    return nil
  end
  local attempt, failures, crashes, first, received, offered, due, order, digest, turn, size, from = string.match(
    text, '^(%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%d+) (%x+)(:?%x*) (%d+) ()')
  -- Texts of digits count as numbers. A larger one would be written in another form.
  if
    not attempt or #digest ~= 32
    or attempt + failures + crashes + first + received + offered + due + order + size > LARGEST
  then
    return nil
  end
  -- A turn is the digest of a key and a number, in hex.
  if #turn ~= 1 and #turn ~= 49 then
    turn = ''
  end
  return {
    attempt = tonumber(attempt), failures = tonumber(failures), crashes = tonumber(crashes), first = tonumber(first),
    received = tonumber(received), offered = tonumber(offered), due = tonumber(due), order = tonumber(order),
    digest = digest, turn = turn ~= '' and string.sub(turn, 2) or nil,
    reason = string.sub(text, from, from + size - 1), context = string.sub(text, from + size),
  }
end

local function unknown(digest)
  return {
    attempt = 0, failures = 0, crashes = 0, first = 0, received = 0, offered = 0, due = 0, order = 0, digest = digest,
    reason = '', context = '',
  }
end

local function place(id, d)
  return d.digest .. eight_bytes(d.order) .. id
end

-- The order in a place. The score in history_ends may be a later time, at which the record is looked at again.
local function order_of(member)
  return #member < 40 and 0 or number_at(member, 33)
end
