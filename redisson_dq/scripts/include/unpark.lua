-- Forgets that a value was parked by a limit of its key, as it is taken away.
-- INCLUDE: named

-- d: the record of the value, if there is one. An item that was offered under an id has another entry once it is parked.
-- No call fails by these keys, which nearly no queue has.
local function unpark(id, item, d)
  if not d or id == item and item_of(d) then
    return
  end
  local text = redis.pcall('HGET', keys.turns, 'p' .. id)
  local since = tonumber(type(text) == 'string' and string.match(text, '^(%d+) ') or nil)
  if since and since < 2 ^ 53 then
    redis.pcall('ZREM', keys.lines, 'p' .. struct.pack('>I4I4', math.floor(since / 4294967296), since % 4294967296) .. id)
    redis.pcall('HDEL', keys.turns, 'p' .. id)
  end
end
