-- Finds the values of other keys behind many of a few keys, where keys take turns.
-- INCLUDE: shared_limit
--
--   turns  'n'   marks: how far calls have looked along the ready list. First that of all keys: nothing behind it was seen.
--                Then one of each key whose values stay in the list, as AHEAD of it wait already: none of its values is
--                before its mark. A mark is the key in 16 bytes (0: all keys), the number of values before it in 4, and
--                the first 16 digits of the digest of the last one of these
--
-- Other programs push and take at the head of the list too. So a mark is looked for by that digest. Where it is not near,
-- all is looked at again.

-- AHEAD: how many values of a key wait for its turns. BEHIND: how many values a look shows at the mark of all keys, AT_KEY
-- at that of one key, LAST at the end of the list. KEYS: how many keys may leave values in the list. BYTES: how many bytes
-- a walk passes. Lua allows a script 200 local names.
local past = {
  AHEAD = 20, BEHIND = 1000, AT_KEY = 50, LAST = 50, KEYS = 8, BYTES = 1000000,
  ALL = string.rep('\0', 16),
}
-- How many values a look shows beside those at the head.
past.MORE = past.BEHIND + past.LAST + 2 * past.AT_KEY

function past.read()
  local marks, text = {}, redis.call('HGET', keys.turns, 'n') or ''
  for at = 1, #text - 35, 36 do
    local key, before, check = struct.unpack('c16>I4c16', text, at)
    marks[#marks + 1] = {key = key, before = before, check = check}
  end
  return marks[1] and marks[1].key == past.ALL and marks or {}
end

-- How many values of a key wait for its turns.
function past.waiting(key)
  return redis.call('ZLEXCOUNT', keys.lines, '[w' .. key, '[w' .. key .. HIGHEST)
end

-- Calls a function with the place and the value of each, from a place on and at most this many. It ends the walk by false.
function past.walk(from, most, with)
  local bytes, count = 0, 1
  while most > 0 and bytes < past.BYTES do
    local values, before = redis.call('LRANGE', keys.ready, from, from + math.min(count, most) - 1), bytes
    for i, value in ipairs(values) do
      if with(from + i - 1, value) == false then
        return
      end
      bytes = bytes + #value
    end
    if #values == 0 then
      return
    end
    from, most = from + #values, most - #values
    -- Values may be large.
    count = math.max(1, math.min(16 * count, math.floor(count * past.BYTES / 4 / (bytes - before + 1))))
  end
end

-- Shows the values that take may take. found: those at the head. most: of all.
function past.show(found, most)
  local head, last = #found, #found
  local function show(place, value)
    if #found < most then
      found[#found + 1] = value
    end
    last = math.max(last, place + 1)
  end
  local marks = past.read()
  for i = 2, #marks do
    if marks[i].before > head and past.waiting(marks[i].key) < past.AHEAD then
      past.walk(marks[i].before, past.AT_KEY, show)
    end
  end
  last = marks[1] and math.max(head, marks[1].before) or head
  past.walk(last, past.BEHIND, show)
  past.walk(math.max(last, redis.call('LLEN', keys.ready) - past.LAST), past.LAST, show)
  return found
end
