-- Limits that several queues share: their slots and tokens are in keys of their own.
-- INCLUDE: check_types
--
--   redisson_dq_slots:home   's' .. key .. length of the id .. id .. queue   a slot that a lease of a queue has
--                            'q' .. key .. queue                             a queue in which values wait for a slot
--   redisson_dq_rate:home    'b' .. limit                                    the bucket (bucket.lua)
--
-- The home of a limit is its name in braces. In a cluster a queue's tag is before it, so that all are in one hash slot. Of
-- a limit without a home all is in the queue's own keys.
--
-- A limit by key has a digest for each key of values: 4 bytes of the limit, and 12 bytes of the key. Its home begins with
-- 'by:', and the members of its slots have that digest. Those of another limit have none.
local HIGHEST = string.rep('\255', 24)
local homes = {}

function homes.is_by_key(home)
  return string.sub(home, 1, 3) == 'by:'
end

function homes.key_in(id, home)
  return homes.is_by_key(home) and id or ''
end

local function slots_key(home)
  return 'redisson_dq_slots:' .. home
end

local function rate_key(home)
  return home == '' and keys.turns or 'redisson_dq_rate:' .. home
end

local function shared_slot(limit, home, id)
  return 's' .. homes.key_in(limit, home) .. string.char(#id) .. id .. keys.ready
end

function homes.queue_in(limit, home)
  return 'q' .. homes.key_in(limit, home) .. keys.ready
end

-- The key of another queue, as Redisson names it.
local function key_of_queue(prefix, queue)
  return prefix .. ':' .. (string.find(queue, '{', 1, true) and queue or '{' .. queue .. '}')
end

-- Whether keys has those of another queue, into which nothing has been written yet.
homes.unchecked = false

-- Fails before a value of another queue is taken out, where it could not be put back: by the type of a key there, or by
-- this user's rights. Those of this queue were checked by the call.
local function check_other_queue()
  if not homes.unchecked then
    return
  end
  check_types(
    {keys.ready, keys.envelopes}, {keys.timeout, keys.leases, keys.histories, keys.history_ends, keys.lines},
    {keys.deliveries, keys.turns})
  -- Redis 6.2 has no right to read a key that is not one to write it.
  for name in pairs(redis.acl_check_cmd and keys or {}) do
    if not redis.acl_check_cmd('LPUSH', keys[name], '') then
      error({err = 'NOPERM'})
    end
  end
  homes.unchecked = false
end

-- Carries out work on the keys of another queue. An error there is none of this call's.
local function in_queue(queue, work)
  local own = keys
  homes.unchecked = true
  keys = {ready = queue}
  for name, prefix in pairs({
    arrivals = 'redisson_dq_arrivals', timeout = 'redisson_delay_queue_timeout', envelopes = 'redisson_delay_queue',
    leases = 'redisson_dq_leases',
    deliveries = 'redisson_dq_deliveries', histories = 'redisson_dq_histories',
    history_ends = 'redisson_dq_history_ends', lines = 'redisson_dq_lines', turns = 'redisson_dq_turns',
  }) do
    keys[name] = key_of_queue(prefix, queue)
  end
  local done, found = pcall(work)
  keys, homes.unchecked = own, false
  return done and found
end

-- Offers a free slot to the values of some other queues, to other ones at each time. The argument call_up calls up
-- values of a queue, and returns whether some were.
local function offer_slot(limit, home, most, now_ms, call_up)
  local key, of_key = slots_key(home), homes.key_in(limit, home)
  local high = of_key == '' and '(r' or '[q' .. of_key .. HIGHEST
  local queues = redis.call('ZRANGEBYLEX', key, '[q' .. of_key, high, 'LIMIT', 0, 1000)
  for i = 1, math.min(most, #queues) do
    local member = queues[(now_ms + i) % #queues + 1]
    local queue = string.sub(member, 2 + #of_key)
    if queue ~= keys.ready and not in_queue(queue, call_up) then
      redis.call('ZREM', key, member)
    end
  end
end
