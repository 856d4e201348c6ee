-- Tells all about a queue: how much is in it and where, what comes next, who moves it. Changes nothing.
-- Answers to: nothing in Redisson
-- KEYS: ready, timeout, envelopes, channel, capacity, quarantine, newer, undecodable, expired, records, forget, settings, recurring, recurring_due, mover, arrivals, returned, leases, deliveries, histories, history_ends, alarm, lines, turns, handled, fence, dead, dead_info, dead_index
-- ARGV: the Redis type of each key, "" for the channel
-- RETURN: the server's time in epoch us; of each key that is there: its number, its type, its size (0 for a wrong type), when it vanishes in epoch ms (-1: never), its bytes in memory (-1: unknown); names of figures and what is known of each, in turn
-- COST: O(log m + l), m waiting, l at most 2,000 leases whose entries are gone; the entries at the ends of the waiting side and the head of the ready list are read
-- INCLUDE: clock, expiry, count_held, next_waiting, entry_kind, newer_met, digest, known_of, delivery_record, forms
local now_us, now_ms = server_time()
local told = {}
local function tell(name, figure)
  if figure then
    told[#told + 1], told[#told + 2] = name, figure
  end
end

-- -- each key -------------------------------------------------------------------------------------------------------

local SIZES = {
  hash = function(key) return redis.call('HLEN', key) end,
  list = function(key) return redis.call('LLEN', key) end,
  string = function() return 1 end,
  zset = function(key) return redis.call('ZCARD', key) end,
}
local rows, is_wrong, size_of = {}, {}, {}
for i, key in ipairs(KEYS) do
  local kind = redis.call('TYPE', key).ok
  if kind ~= 'none' and ARGV[i] ~= '' then
    is_wrong[key] = kind ~= ARGV[i]
    size_of[key] = is_wrong[key] and 0 or SIZES[kind](key)
    -- Not every user may ask for it.
    local bytes = redis.pcall('MEMORY', 'USAGE', key)
    rows[#rows + 1] = {i, kind, size_of[key], vanishes_at(key), type(bytes) == 'number' and bytes or -1}
  end
end

-- Whether there is something of the right type in each of these keys.
local function stand(...)
  for _, key in ipairs({...}) do
    if is_wrong[key] or not size_of[key] then
      return false
    end
  end
  return true
end

-- -- waiting values and leases --------------------------------------------------------------------------------------

local kinds = {}
local function look_at(member)
  if member then
    kinds[entry_kind(member, stand(keys.leases))] = true
  end
end

if stand(keys.timeout) then
  local held, gone = 0, 0
  if stand(keys.leases) then
    held, gone = count_held()
    local held_from = string.format('(%.0f', now_ms)
    local first = redis.call('ZRANGEBYSCORE', keys.leases, held_from, '+inf', 'WITHSCORES', 'LIMIT', gone, 1)
    tell('deadline', held > 0 and first[2])
  end
  local head = redis.call('ZRANGE', keys.timeout, 0, 0, 'WITHSCORES')
  look_at(head[1])
  tell('held', held)
  tell('overdue', redis.call('ZCOUNT', keys.timeout, '-inf', now_ms))
  tell('head', head[2])
  tell('next', next_waiting(head[2], held, gone, now_ms))
end
if stand(keys.envelopes) then
  look_at(redis.call('LINDEX', keys.envelopes, 0))
  look_at(redis.call('LINDEX', keys.envelopes, -1))
end
local met = {}
for kind in pairs(kinds) do
  met[#met + 1] = kind
end
tell('kinds', met)

-- -- ready values --------------------------------------------------------------------------------------------------

-- A plain value has no record, and nothing tells since when it is ready. To make the digest of a large value takes long.
local LARGE = 1000000
if stand(keys.ready, keys.histories, keys.deliveries) and not is_wrong[keys.timeout] then
  local value = redis.call('LINDEX', keys.ready, 0)
  for _, member in ipairs(#value <= LARGE and known_of(digest_of(value)) or {}) do
    local id = string.sub(member, 41)
    if not stands(id, value) then
      local text = redis.call('HGET', keys.deliveries, id)
      local d = parsed(text)
      if d or newer_form('deliveries', text) then
        tell('since', d and d.order > 0 and d.order)
        break
      end
    end
  end
end

-- -- the rest -------------------------------------------------------------------------------------------------------

if stand(keys.settings) then
  for i, value in ipairs(redis.call('HMGET', keys.settings, 'paused', 'max_size', 'expired')) do
    tell(({'paused', 'max_size', 'expired'})[i], value)
  end
end
if stand(keys.capacity) then
  tell('room', redis.call('GET', keys.capacity))
end
if stand(keys.recurring_due) then
  local first = redis.call('ZRANGE', keys.recurring_due, 0, 0, 'WITHSCORES')
  tell('recurring', first[2])
  tell('rule', stand(keys.recurring) and redis.call('HGET', keys.recurring, 'd' .. first[1]))
end
if stand(keys.lines) then
  for name, from in pairs({turns = 'k', waiting_for_slots = 'w', slots = 's'}) do
    local till = string.char(string.byte(from) + 1)
    tell(name, redis.call('ZLEXCOUNT', keys.lines, '[' .. from, '(' .. till))
  end
end
if stand(keys.mover) then
  tell('mover', redis.call('GET', keys.mover))
end
-- Not every user may ask for it.
tell('subscribers', redis.pcall('PUBSUB', 'NUMSUB', keys.channel)[2])
tell('newer', newer_met(stand(keys.newer)))
return {now_us, rows, told}
