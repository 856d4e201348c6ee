-- Adds many values at once.
-- KEYS: timeout, envelopes, channel, settings, alarm, leases
-- INCLUDE: add, clock, held_now

-- The dues and the values that stand in ARGV from here on, in turn.
local function offered_from(first, now_us)
  local dues, values, n = {}, {}, 0
  for i = first, #ARGV, 2 do
    n = n + 1
    dues[n], values[n] = due_of(ARGV[i], now_us), ARGV[i + 1]
  end
  return dues, values
end

-- Whether so many more may wait.
local function has_room(count)
  local largest = tonumber(redis.call('HGET', keys.settings, 'max_size') or nil)
  return not largest or redis.call('ZCARD', keys.timeout) - count_held() + count <= largest
end

-- Puts values in, and announces the head when it is one of them. Gives their members.
local function add_many(envelope, dues, values, now_us)
  local wrap, added, head, head_due = wrapper(envelope, now_us), {}
  for start = 1, #values, 1000 do
    local members, scored
    repeat
      members, scored = {}, {}
      for i = start, math.min(start + 999, #values) do
        local n, member = i - start + 1, wrap(values[i])
        members[n], added[i] = member, member
        scored[2 * n - 1], scored[2 * n] = dues[i], member
      end
    until store(envelope, members, scored)
    for n, member in ipairs(members) do
      if not head or scored[2 * n - 1] < head_due then
        head, head_due = member, scored[2 * n - 1]
      end
    end
  end
  if redis.call('ZRANGE', keys.timeout, 0, 0)[1] == head then
    announce_head(head_due)
  end
  return added
end
