-- Takes out all waiting items. Leases stay, and so do the names of ready items and of dead letters.
-- Answers to: RDelayedQueue.clear(), since 3.10
-- KEYS: timeout, envelopes, records, leases, deliveries, histories, history_ends, lines, turns, settings, events
-- ARGV: the process that calls
-- RETURN: nothing
-- COST: O(m + l log m), m waiting, l leases and values that were delivered before
-- INCLUDE: clock, find, unlearn, unpark, parts, need, named, events
local _, now_ms = server_time()
local held = {}
local leases = redis.call('ZRANGEBYSCORE', keys.leases, string.format('(%.0f', now_ms), '+inf', 'WITHSCORES')
for i = 1, #leases, 2 do
  local member = find(leases[i], leases[i + 1])
  if member then
    held[#held + 1], held[#held + 2] = leases[i + 1], member
  end
end
local gone = {}
for _, member in ipairs(redis.call('ZRANGE', keys.histories, 0, -1)) do
  local id = string.sub(member, 41)
  if find(id, order_of(member)) then
    gone[#gone + 1] = id
  end
end
local ended = redis.call('ZRANGEBYSCORE', keys.leases, '-inf', now_ms, 'WITHSCORES')
for i = 1, #ended, 2 do
  -- A lease whose value Redisson has made ready is left to the next receive, which counts the crash.
  if find(ended[i], ended[i + 1]) then
    gone[#gone + 1] = ended[i]
  end
end
check_known()
local fields = redis.call('HKEYS', keys.records)
need(UNLEARNING, {'HEXISTS', 'HSET', 'UNLINK', 'ZADD'})
for _, id in ipairs(gone) do
  local d = unlearn(id)
  unpark(id, item_at(id, d), d)
end

-- An item whose value does not wait is dead, or has a record of its delivery.
local kept = {}
local function keep(field)
  local text = redis.call('HGET', keys.records, field)
  if text then
    kept[#kept + 1], kept[#kept + 2] = field, text
  end
  return text or ''
end
for _, field in ipairs(fields) do
  local kind, item = string.sub(field, 1, 1), string.sub(field, 2)
  if kind == 'c' then
    keep(field)
  elseif kind == 'v' then
    local id, where = place_of(item)
    if where == 'd' or redis.call('HEXISTS', keys.deliveries, id) == 1 then
      local key = string.match(keep('e' .. item), '^%l %d+ %d+ %d+ (.+)$')
      for _, other in ipairs({key or '', 'p' .. item, 'n' .. item, field}) do
        keep(other)
      end
    end
  end
end
redis.call('UNLINK', keys.envelopes, keys.timeout, keys.records)
keep_events(now_ms, ARGV[1])
note_event('cleared', '', nil, nil, nil, nil, 'waiting')
in_parts(held, function(...) redis.call('ZADD', keys.timeout, ...) end)
in_parts(kept, function(...) redis.call('HSET', keys.records, ...) end)
return 0
