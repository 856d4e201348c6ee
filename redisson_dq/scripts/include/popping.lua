-- Takes values out of a queue for receivers that lease them. Values that have arrived for a receiver come first.
-- INCLUDE: digest, grant
-- LPOP comes first. It needs no memory, so a full server does not refuse the later commands.
local RECEIVING = {'LPOP'}
-- A call stops after this many bytes, and after at least one value. A script takes some 8 ms for them.
local MOST_RECEIVED = 1000000
-- How many values were in the lists, how many were popped, and the bytes of these.
local arrived, ready, popped, bytes, largest = 0, 0, 0, 0, 0

-- Fails on a wrong type.
local function count_ready()
  arrived, ready = redis.call('LLEN', keys.arrivals), redis.call('LLEN', keys.ready)
end

local function pop_from(key, count, deliver)
  -- More values than were asked for are taken only where dead letters are among them, and a bounded number.
  -- The first pop takes one value, to learn how large the values are.
  while grants < count and popped < count + 100 and bytes < MOST_RECEIVED do
    local room = popped == 0 and 1 or math.ceil((MOST_RECEIVED - bytes) / math.max(largest, 1))
    local values = redis.call('LPOP', key, math.min(count - grants, 100, room))
    if not values then
      return
    end
    for _, value in ipairs(values) do
      popped, bytes, largest = popped + 1, bytes + #value, math.max(largest, #value)
      deliver(value, digest_of(value))
    end
  end
end

-- Passes values to a function that leases them, until enough are leased, and writes the leases.
local function receive(count, deliver, deadline, now_ms)
  if arrived > 0 then
    pop_from(keys.arrivals, count, deliver)
  end
  if ready > 0 then
    pop_from(keys.ready, count, deliver)
  end
  write_grants(deadline, now_ms)
end
