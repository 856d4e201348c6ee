-- Describes a queue: how much is in it and where, what comes next, who moves it. Changes nothing.
-- KEYS: ready, timeout, envelopes, channel, capacity, quarantine, newer, undecodable, expired, records, forget, settings, recurring, recurring_due, mover, arrivals, returned, leases, deliveries, histories, history_ends, alarm, lines, turns, handled, events, fence, migrating, dead, dead_info, dead_index
-- ARGV: the Redis type of each key, "" for the channel
-- RETURN: the server's time in epoch us; of each key that is there: its number, its type, its size (0 for a wrong type), when it vanishes in epoch ms (-1: never), its bytes in memory (-1: unknown); names of figures and what is known of each, in turn
-- COST: O(log m + l), m waiting, l at most 2,000 leases whose entries are gone; the entries at the ends of the waiting side and the head of the ready list are read
-- INCLUDE: clock, figures, expiry, entry_kind, newer_met, digest, known_of, delivery_record, forms, looks
local now_us, now_ms = server_time()
local rows = keys_there(function(key)
  -- Not every user may ask for it.
  local bytes = redis.pcall('MEMORY', 'USAGE', key)
  return vanishes_at(key), type(bytes) == 'number' and bytes or -1
end)

-- -- waiting values and leases --------------------------------------------------------------------------------------

local kinds = {}
local function look_at(member)
  if member then
    kinds[entry_kind(member, stand(keys.leases))] = true
  end
end

local held, gone, first = tell_waiting(now_ms)
look_at(first)
if held > 0 then
  local held_from = string.format('(%.0f', now_ms)
  tell('deadline', redis.call('ZRANGEBYSCORE', keys.leases, held_from, '+inf', 'WITHSCORES', 'LIMIT', gone, 1)[2])
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

-- A plain value has no record, so it is unknown since when it is ready. To make the digest of a large value takes long.
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

tell_state()
tell_parked()
tell_receipt(now_ms)
if stand(keys.capacity) then
  tell('room', redis.call('GET', keys.capacity))
end
if stand(keys.recurring_due) then
  local first = redis.call('ZRANGE', keys.recurring_due, 0, 0, 'WITHSCORES')
  tell('recurring', first[2])
  tell('rule', stand(keys.recurring) and redis.call('HGET', keys.recurring, 'd' .. first[1]))
end
if stand(keys.forget) then
  tell('remembered_until', redis.call('ZRANGE', keys.forget, -1, -1, 'WITHSCORES')[2])
end
if stand(keys.lines) then
  for name, from in pairs({turns = 'k', waiting_for_slots = 'w', slots = 's'}) do
    local till = string.char(string.byte(from) + 1)
    tell(name, redis.call('ZLEXCOUNT', keys.lines, '[' .. from, '(' .. till))
  end
end
tell('newer', newer_met(stand(keys.newer)))
return {now_us, rows, told}
