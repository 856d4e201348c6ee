-- Reads the name of an item in the context of its delivery.
--
-- An item that was offered under an id, or is known by its payload, stays one item until it is settled. The record of
-- its delivery goes with it from lease to lease. Its context begins with MARK, the entry id in hex, for how many ms
-- outcomes are remembered, and the item's key. An older client reads that as a part of the context, and passes it on.
local MARK = '{"redisson_dq.item":"'

local function bytes_of(hex)
  return (string.gsub(hex, '%x%x', function(digits)
    return string.char(tonumber(digits, 16))
  end))
end

-- The id of the entry that an item was offered with, and for how many ms its outcome is remembered. Nil for a value
-- without a name.
local function item_of(d)
  if not d or string.sub(d.context, 1, #MARK) ~= MARK then
    return nil
  end
  local hex, remember_ms = string.match(d.context, '^(%x+) (%d+) ', #MARK + 1)
  if hex then
    return bytes_of(hex), tonumber(remember_ms)
  end
  return nil
end

-- The key of such an item, or ''.
local function key_of_item(d)
  local is_json, told = pcall(cjson.decode, d.context)
  local name = is_json and told['redisson_dq.item']
  return type(name) == 'string' and string.match(name, '^%x+ %d+ (.*)$') or ''
end
