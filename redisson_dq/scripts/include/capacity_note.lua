-- Keeps the note of a capacity (capacity.lua) with the key of the capacity: it goes with that key, and with no other.
local function note_beside(key)
  local queue = string.match(key, '^redisson_bqs:(.+)$') or string.match(key, '^redisson_dq_settings:(.+)$')
  return queue and 'redisson_dq_settings:' .. queue
end

-- The capacity has another number, or goes, or its note has come without it. A note that cannot be removed is left.
local function forget_capacity(key)
  local settings = note_beside(key)
  if settings then
    redis.pcall('HDEL', settings, 'capacity', 'short')
  end
end

-- The note beside the key of a capacity, or nil.
local function noted_capacity(key)
  local settings = string.sub(key, 1, 13) == 'redisson_bqs:' and note_beside(key)
  local text = settings and redis.pcall('HGET', settings, 'capacity')
  return type(text) == 'string' and text or nil
end

local function note_capacity(key, text)
  if text then
    redis.pcall('HSET', note_beside(key), 'capacity', text)
  end
end
