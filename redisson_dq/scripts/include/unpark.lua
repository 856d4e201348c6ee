-- Forgets that a value was parked by a limit of its key (by_key.lua). No call fails by these keys, which nearly no queue has.
-- INCLUDE: eight_bytes, item_name

-- Returns since when the value with this id was parked, and its turn.
local function forget_parked(id)
  local text = redis.pcall('HGET', keys.turns, 'p' .. id)
  local since, turn = string.match(type(text) == 'string' and text or '', '^(%d+) %Z*%z?(.*)$')
  if since and #since < 16 then
    redis.pcall('ZREM', keys.lines, 'p' .. eight_bytes(tonumber(since)) .. id)
    redis.pcall('HDEL', keys.turns, 'p' .. id)
  end
  return tonumber(since), turn
end

-- The value is taken away. d: its record, if there is one. An item that was offered under an id has another entry once it
-- is parked.
local function unpark(id, item, d)
  if d and not (id == item and item_of(d)) then
    forget_parked(id)
  end
end
