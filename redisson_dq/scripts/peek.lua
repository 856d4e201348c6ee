-- Shows the values that a receive would give next. They stay. Where there are none, values that wait for a slot of a limit
-- are called up first, as far as slots are free.
-- KEYS: ready, arrivals, timeout, envelopes, leases, deliveries, histories, history_ends, lines, turns, handled, records, quarantine
-- ARGV: how many at most, how many limits follow; of each limit the words that admit.lua gets
-- RETURN: how many were called up for free slots; the values; in how many ms the first slot ends that values wait for (0: they wait, and no slot is taken), or -1; -2: this call has not looked for them
-- COST: O(n), n shown
-- INCLUDE: clock, forget_histories, need, reads
local most, limited = tonumber(ARGV[1]), tonumber(ARGV[2])
local now_us, now_ms = server_time()

local function shown(most)
  local found, bytes = {}, 0
  for _, key in ipairs({keys.arrivals, keys.ready}) do
    each_read(0, bytes < MOST_BYTES and most - #found - 1 or -1, most, 1, function(from, till)
      return redis.call('LRANGE', key, from, till)
    end, function(value)
      found[#found + 1], bytes = value, bytes + #value
      return bytes >= MOST_BYTES
    end)
  end
  if #found == 0 and most > 0 and redis.call('EXISTS', keys.histories) == 1 then
    need({'HDEL', 'ZADD', 'ZREM'})
    forget_histories(now_ms, true, FEW_HISTORIES)
  end
  return found
end

-- A value that was called up comes before others do. Where none comes, another program has taken it, or none was called up.
local names_keys, takes_turns, ready = false, false, redis.call('EXISTS', keys.arrivals, keys.ready) > 0
for i = 11, #ARGV, 9 do
  names_keys = names_keys or ARGV[i] ~= ''
  takes_turns = takes_turns or string.match(ARGV[i], '^%Z*%z%Z*%z%Z*%z%Z*%z%Z*%z%Z*%z.') ~= nil
end
if limited == 0 or not names_keys and redis.call('EXISTS', keys.lines) == 0 then
  return {0, shown(most), -1}
elseif ready and (not takes_turns or most == 0) then
  return {0, shown(most), -2}
end

-- INCLUDE: slots, lines, by_key, past
if ready then
  local head = math.max(1, most - past.MORE)
  local found = shown(head)
  return {0, #found < head and found or past.show(found, most), -2}
end
local limits = slots.limits_from(3, limited)
check_lines()
slots.check(limits)
need(LINING)
if takes_turns then
  redis.call('HDEL', keys.turns, 'n')
end
by_keys.fill_all(limits, now_us, now_ms, true)
-- The call that leases it calls up as many more as it may lease.
by_keys.take_turns(limits, 1, now_us, now_ms, true)
by_keys.tidy_all(limits, 200, now_us, now_ms)
if names_keys then
  by_keys.drop_void(20, now_ms)
end
return {slots.called_up, shown(most), slots.next_ms}
