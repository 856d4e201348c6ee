-- Finds an entry by its id, and a place by halving the way.
-- INCLUDE: envelope

-- Byte by byte: Lua's own comparison of strings follows the server's locale, a zset's order does not.
local function compare(a, b)
  for i = 1, #b do
    local difference = (string.byte(a, i) or -1) - string.byte(b, i)
    if difference ~= 0 then
      return difference
    end
  end
  return 0
end

-- The first number from one on up to another for which holds gives true; the last one if it does for none before.
local function bisect(low, high, holds)
  while low < high do
    local middle = math.floor((low + high) / 2)
    if holds(middle) then
      high = middle
    else
      low = middle + 1
    end
  end
  return low
end

-- The member with this id among those due at this time, or nil. Ties are sorted by bytes: k of them take log k looks.
-- Somebody else may have written the id, so it may be any text. The ids of all forms have a byte for their length.
local function find(id, due)
  if #id > 255 then
    return nil
  end
  local score = string.format('%.0f', due)
  local first = redis.call('ZCOUNT', keys.timeout, '-inf', '(' .. score)
  local last = first + redis.call('ZCOUNT', keys.timeout, score, score) - 1
  for _, prefix in ipairs({string.char(#id) .. id, id}) do
    local low, high = first, last
    while low <= high do
      local middle = math.floor((low + high) / 2)
      local member = redis.call('ZRANGE', keys.timeout, middle, middle)[1]
      local order = compare(member, prefix)
      if order == 0 then
        local _, found = unwrap(member)
        if found == id then
          return member
        end
        break
      elseif order < 0 then
        low = middle + 1
      else
        high = middle - 1
      end
    end
  end
  return nil
end
