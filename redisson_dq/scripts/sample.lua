-- Shows some values and entries of a queue, and compares the two keys of the waiting side. Changes nothing.
-- KEYS: ready, timeout, envelopes, leases, deliveries, alarm, history_ends, settings, events
-- ARGV: how many entries are read of each key, half of them from either end; how many values and entries are shown
-- RETURN: the server's time in epoch us; ready values; the first and the last entries, each with its due and its kind in turn; names of figures and what is known of each, in turn
-- COST: O(n + log m), n entries read, 250,000 bytes of each key and one entry more at most; m waiting
-- INCLUDE: clock, entry_kind, delivery_record, looks
local now_us, now_ms = server_time()
local most, shown = tonumber(ARGV[1]), tonumber(ARGV[2])
local MOST_BYTES, LARGEST = 250000, 65536
-- Five years. No caller means to wait longer than this.
local FAR_MS = 1826 * 86400000

local function holds(key, kind)
  return redis.call('TYPE', key).ok == kind
end

-- Elements from the front, then some from the back; whether these are all, and how many are from the front. The argument
-- read gives the elements from one place to another.
local function ends(size, read)
  local found, bytes = {}, 0
  local function fill(from, count, sign)
    local at = 0
    while at < count and bytes < MOST_BYTES do
      local till = math.min(at == 0 and 1 or at + 32, count)
      local some = sign > 0 and read(from + at, from + till - 1) or read(from - till + 1, from - at)
      for i = 1, #some do
        bytes = bytes + #some[i]
        found[#found + 1] = some[i]
      end
      if #some == 0 then
        break
      end
      at = till
    end
    return at
  end
  if size <= most then
    local whole = fill(0, size, 1) >= size
    return found, whole, #found
  end
  fill(0, math.floor(most / 2), 1)
  local front = #found
  fill(size - 1, math.floor(most / 2), -1)
  return found, false, front
end

-- -- ready values --------------------------------------------------------------------------------------------------

local values = {}
if holds(keys.ready, 'list') then
  local found = ends(math.min(redis.call('LLEN', keys.ready), shown), function(from, till)
    return redis.call('LRANGE', keys.ready, from, till)
  end)
  for _, value in ipairs(found) do
    values[#values + 1] = #value <= LARGEST and value or nil
  end
end

-- -- the waiting side ----------------------------------------------------------------------------------------------

local leased = holds(keys.leases, 'zset')
local kinds, examples, firsts = {}, {}, {}
local in_zset, mirrored, lean = {}, {}, 0
local zset_whole, zset_size, list_size = true, 0, 0
if holds(keys.timeout, 'zset') then
  zset_size = redis.call('ZCARD', keys.timeout)
  local found, whole, front = ends(zset_size, function(from, till)
    return redis.call('ZRANGE', keys.timeout, from, till, 'WITHSCORES')
  end)
  zset_whole = whole
  for i = 1, #found, 2 do
    local member, due = found[i], found[i + 1]
    local kind = entry_kind(member, leased)
    kinds[kind] = (kinds[kind] or 0) + 1
    examples[kind] = examples[kind] or member
    in_zset[member] = true
    if kind == 'current' or kind == 'legacy' then
      mirrored[#mirrored + 1] = member
    end
    -- Of a queue that is read whole the last ones too: a second service may have begun later.
    local is_shown = (i > front and i - front or i) < 2 * shown or whole and i > #found - 2 * shown
    if is_shown and #member <= LARGEST then
      firsts[#firsts + 1], firsts[#firsts + 2], firsts[#firsts + 3] = member, due, kind
    end
  end
end
local list_whole, in_list, list_alone, zset_alone = true, {}, 0, 0
local alone_in_list, alone_in_zset
if holds(keys.envelopes, 'list') then
  list_size = redis.call('LLEN', keys.envelopes)
  local found, whole = ends(list_size, function(from, till)
    return redis.call('LRANGE', keys.envelopes, from, till)
  end)
  list_whole = whole
  local is_zset = zset_size > 0
  for _, member in ipairs(found) do
    in_list[member] = true
    if not in_zset[member] and not (is_zset and redis.call('ZSCORE', keys.timeout, member)) then
      list_alone = list_alone + 1
      alone_in_list = alone_in_list or member
    end
  end
end
if list_whole then
  for _, member in ipairs(mirrored) do
    if not in_list[member] then
      zset_alone = zset_alone + 1
      alone_in_zset = alone_in_zset or member
    end
  end
end
for kind, count in pairs(kinds) do
  tell('kind ' .. kind, count)
end
if zset_size > 0 then
  local far = redis.call('ZCOUNT', keys.timeout, string.format('%.0f', now_ms + FAR_MS), '+inf')
  if far > 0 then
    tell('far', {far, redis.call('ZRANGE', keys.timeout, -1, -1, 'WITHSCORES')[2]})
  end
end
tell('zset', zset_size)
tell('list', list_size)
tell('leases', leased and redis.call('ZCARD', keys.leases) or 0)
tell('whole', list_whole and zset_whole and 1 or 0)
tell('list_alone', list_alone)
tell('zset_alone', zset_alone)
tell('alone_in_list', alone_in_list)
tell('alone_in_zset', alone_in_zset)
for kind, member in pairs(examples) do
  tell('example ' .. kind, string.sub(member, 1, LARGEST))
end

-- -- leases ----------------------------------------------------------------------------------------------------------

-- The leases that were received first and last, of those that end first and last, and those of each holder: of the four
-- bytes that their ids begin with.
local MOST_IDS, HOUR_MS = 20, 3600000
-- Values whose handling has failed, or has ended their process: how many there are, and how often that was; the reason of
-- the one that has failed most, or "" for a crash.
local failing, failures, most_failures, reason = 0, 0, 0, ''
local function count_failures(d)
  local times = d and d.failures + d.crashes or 0
  if times > 1 then
    failing, failures = failing + 1, failures + times
    if times > most_failures then
      most_failures, reason = times, d.crashes > d.failures and '' or d.reason
    end
  end
end

if leased and holds(keys.deliveries, 'hash') then
  local since, oldest, newest
  local holders, seen, age_ms = {}, {}, 0
  for _, ids in ipairs(outermost_leases(now_ms, 50)) do
    for _, id in ipairs(ids) do
      local d = parsed(redis.call('HGET', keys.deliveries, id))
      if d and d.received > 0 and not seen[id] then
        seen[id] = true
        age_ms = age_ms + now_ms - d.received
        count_failures(d)
        if not since or d.received < since then
          since, oldest = d.received, id
        end
        newest = math.max(newest or 0, d.received)
        -- Only an id of ten bytes begins with those of a client.
        local name = #id == 10 and string.sub(id, 1, 4) or ''
        local of = holders[name] or {name, 0, d.received}
        holders[name] = of
        of[2], of[3] = of[2] + 1, math.min(of[3], d.received)
        if #of < 3 + MOST_IDS then
          of[#of + 1] = id
        end
      end
    end
  end
  for _, of in pairs(holders) do
    of[3] = string.format('%.0f', of[3])
    tell('holder', of)
  end
  if since then
    tell('held_since', string.format('%.0f', since))
    tell('held_id', oldest)
    tell('received_last', string.format('%.0f', newest))
    tell('held_ms', string.format('%.0f', age_ms))
  end
end
if holds(keys.history_ends, 'zset') and holds(keys.deliveries, 'hash') then
  -- Those that wait for another try, or were ready again within the last hour.
  for _, member in ipairs(redis.call('ZRANGE', keys.history_ends, -100, -1)) do
    local d = parsed(redis.call('HGET', keys.deliveries, string.sub(member, 41)))
    if d and d.order > now_ms - HOUR_MS then
      count_failures(d)
    end
  end
end
if failing > 0 then
  tell('failing', {failing, failures, most_failures, reason})
end

-- Notes of workers whose handlings go on for long, as far as they are fresh (progress.lua).
local FRESH = 30000
if holds(keys.alarm, 'hash') then
  for i = 0, 15 do
    local note = redis.call('HGET', keys.alarm, string.format('h%x', i))
    local at, text = string.match(note or '', '^(%d+) (.*)$')
    if at and now_ms - tonumber(at) < FRESH then
      tell('note', text)
    end
  end
end

-- -- the history ------------------------------------------------------------------------------------------------------

-- A setting is shorter than this. Events of this library have this many fields, and are not larger.
local LONGEST_SETTING, FIELDS, LARGEST_EVENT, MOST_EVENTS = 40, 18, 4096, 20
local kept = holds(keys.settings, 'hash') and redis.call('HGET', keys.settings, 'history')
if kept then
  tell('history', string.sub(kept, 1, LONGEST_SETTING))
end
if kept and holds(keys.events, 'stream') then
  local read, foreign, bytes, before, newest = 0, 0, 0, '+', nil
  while read < MOST_EVENTS and bytes < MOST_BYTES do
    local event = redis.call('XREVRANGE', keys.events, before, '-', 'COUNT', 1)[1]
    if not event then
      break
    end
    local size = 0
    for _, word in ipairs(event[2]) do
      size = size + #word
    end
    if event[2][1] ~= 'e' or #event[2] < FIELDS or size > LARGEST_EVENT then
      foreign = foreign + 1
    end
    read, bytes, newest, before = read + 1, bytes + size, newest or event[1], string.format('(%s', event[1])
  end
  local oldest = redis.call('XRANGE', keys.events, '-', '+', 'COUNT', 1)[1]
  if oldest then
    tell('events', {redis.call('XLEN', keys.events), oldest[1], newest, read, foreign})
  end
end
return {now_us, values, firsts, told}
