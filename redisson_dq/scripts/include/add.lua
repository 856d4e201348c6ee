-- Adds values to the waiting keys.
-- INCLUDE: head, int

-- Sent by adder and store after the first write.
local ADDING = {'ZADD', 'ZRANGE', 'RPUSH', 'LPOS', 'ZREM'}
local ADDING_LEAN = {'ZADD', 'ZRANGE', 'ZMSCORE'}
-- Up to this size in bytes, packing is faster than joining.
local PACKED = 200

-- Ids are big endian: 52 bits of microseconds, then 12 bits of sequence. A zset sorts ties by the members' bytes. So
-- ids that grow with each offer keep values due in the same millisecond in that order. A lean entry is known by the
-- ninth byte of its id.
local function wrapper(envelope, now_us)
  local pack, high, low = struct.pack, math.floor(now_us / 1048576), (now_us % 1048576) * 4096 - 1
  return function(value)
    low = low + 1
    if low == 4294967296 then
      high, low = high + 1, 0
    end
    -- A small value is packed with its head. Packing copies byte by byte, so a large one is appended.
    local packed, behind = value, ''
    if #value > PACKED then
      packed, behind = '', value
    end
    if envelope == 'legacy' then
      return pack('>I4I4<I8c0', high, low, #value, packed) .. behind
    elseif envelope == 'lean' then
      return pack('B>I4I4B<I8c0', 9, high, low, 0, #value, packed) .. behind
    end
    return pack('B>I4I4<I8c0', 8, high, low, #value, packed) .. behind
  end
end

-- The id in a member that a wrapper made.
local function id_in(envelope, member)
  if envelope == 'legacy' then
    return string.sub(member, 1, 8)
  end
  return string.sub(member, 2, 1 + string.byte(member))
end

-- Puts members in, and into the list of offers too unless they are lean. When one of them exists already, it returns
-- false and changes nothing. After a step back of the server's clock an id may be in use, and an equal member would be
-- lost. The argument scored is score and member in turn.
local function store(envelope, members, scored)
  if envelope == 'lean' then
    for _, score in ipairs(redis.call('ZMSCORE', keys.timeout, unpack(members))) do
      if score then
        return false
      end
    end
    redis.call('ZADD', keys.timeout, unpack(scored))
    return true
  end
  if redis.call('ZADD', keys.timeout, 'NX', unpack(scored)) == #members then
    redis.call('RPUSH', keys.envelopes, unpack(members))
    return true
  end
  -- A member that existed before is in the list.
  for _, member in ipairs(members) do
    if not redis.call('LPOS', keys.envelopes, member) then
      redis.call('ZREM', keys.timeout, member)
    end
  end
  return false
end

-- The rights that a user needs.
local function rights_to_add(envelope)
  return envelope == 'lean' and ADDING_LEAN or ADDING
end

-- A function that puts one value in, announces it when it is the new head, and gives its id. One call of a script makes
-- one such function: the ids of a second one would start again.
local function adder(envelope, now_us)
  local wrap, now_ms = wrapper(envelope, now_us), math.floor(now_us / 1000)
  return function(value, due)
    local member
    repeat
      member = wrap(value)
    until store(envelope, {member}, {int(due), member})
    tell_added(member, due, now_ms)
    return id_in(envelope, member)
  end
end
