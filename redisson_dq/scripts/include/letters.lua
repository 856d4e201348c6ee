-- Reads and removes dead letters, and their records.
-- INCLUDE: delivery_record, digest, forms

local LETTERING = {'DEL', 'EXISTS', 'HDEL', 'HGET', 'LLEN', 'LPOP', 'LPUSH', 'LREM', 'ZRANGEBYLEX', 'ZREM'}

-- When the letter came, its queue, its record and its value. Nil for a letter of another program.
local function letter(text)
  if not text then
    return nil
  end
  local at, name_size, size, from = string.match(text, '^(%d+) (%d+) (%d+) ()')
  -- Texts of digits count as numbers.
  if not at or at + name_size + size > 2 ^ 53 then
    return nil
  end
  local record = from + name_size
  return at, string.sub(text, from, record - 1), string.sub(text, record, record + size - 1), string.sub(text, record + size)
end

-- The id of the first dead letter with this value, or of a later one. Nil where nothing is known of it.
local function letter_of(value, skipped)
  local digest = digest_of(value)
  local low, high = '[' .. digest, '[' .. digest .. '\255'
  local member = redis.call('ZRANGEBYLEX', keys.dead_index, low, high, 'LIMIT', skipped or 0, 1)[1]
  return member and string.sub(member, 41)
end

-- Forgets a dead letter that has left the list, and gives its record.
local function forget_letter(id)
  local _, _, text = letter(redis.call('HGET', keys.dead_info, id))
  local d = parsed(text)
  redis.call('HDEL', keys.dead_info, id)
  if d then
    redis.call('ZREM', keys.dead_index, place(id, d))
  end
  return d
end

-- The value of a dead letter is as if nobody had received it.
local function begin_anew(d)
  d.attempt, d.failures, d.crashes, d.first, d.reason = 0, 0, 0, 0, ''
end

-- Takes dead letters out of the list, up to a number: those with these ids, or some of the first. Gives visit the value
-- and the record of each.
local function take_letters(which, ids, most, visit)
  if which == 'ids' then
    local left = tonumber(most)
    for _, id in ipairs(ids) do
      if left == 0 then
        return
      end
      local _, _, _, value = letter(redis.call('HGET', keys.dead_info, id))
      if value and redis.call('LREM', keys.dead, 1, value) == 1 then
        left = left - 1
        visit(value, forget_letter(id), id)
      end
    end
    return
  end
  local kept = {}
  for _, value in ipairs(redis.call('LPOP', keys.dead, most) or {}) do
    local id = letter_of(value)
    if id and newer_form('dead_info', redis.call('HGET', keys.dead_info, id)) then
      kept[#kept + 1] = value
    else
      visit(value, id and forget_letter(id), id)
    end
  end
  -- A letter with a record of a newer version stays where it was.
  for i = #kept, 1, -1 do
    redis.call('LPUSH', keys.dead, kept[i])
  end
end

-- Records of letters that Java took out are dropped when the list is empty.
local function drop_orphans()
  if redis.call('EXISTS', keys.dead) == 0 then
    redis.call('DEL', keys.dead_info, keys.dead_index)
  end
end
