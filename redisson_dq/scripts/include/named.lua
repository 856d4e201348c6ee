-- Finds the item of a delivery, and where an item is known now.
-- INCLUDE: item_name
--
--   records  'p' .. entry id   where an item is known that is not known by its entry: 'l' and an id in deliveries, or
--                              'd' and the id of a dead letter
--            'v' .. entry id   its value, by which it is found in the ready list
--            'c' .. entry id   the id of a lease. The item was cancelled while a receiver had it
--            'n' .. entry id   when it comes again if its receiver fails, and the id of the lease

-- The id by which an item is known, and "l" or "d".
local function place_of(item)
  local text = redis.call('HGET', keys.records, 'p' .. item)
  if text then
    return string.sub(text, 2), string.sub(text, 1, 1)
  end
  return item, 'l'
end

-- The item that is known by the id of an entry. An entry without a name is an item of its own.
local function item_at(id, d)
  local item = item_of(d)
  return item and place_of(item) == id and item or id
end

local function forget_place(item)
  redis.call('HDEL', keys.records, 'p' .. item, 'v' .. item, 'n' .. item)
end

-- Whether the item was cancelled while a receiver had it.
local function was_cancelled(d)
  local item = item_of(d)
  return item and redis.call('HEXISTS', keys.records, 'c' .. item) == 1
end
