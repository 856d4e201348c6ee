-- Follows a value in line from one id to the next.
-- INCLUDE: item_name

-- The turn that a record names (lines.lua), or nil.
local function turn_of(d)
  if d.turn and d.turn ~= '' then
    return 'k' .. bytes_of(d.turn)
  end
  return nil
end

-- A turn as a record names it.
local function text_of(turn)
  return (string.gsub(string.sub(turn, 2), '.', function(byte)
    return string.format('%02x', string.byte(byte))
  end))
end

-- The value is known by this id now.
local function follow(d, id)
  local turn = turn_of(d)
  if turn then
    redis.call('HSET', keys.turns, turn, id)
  end
end
