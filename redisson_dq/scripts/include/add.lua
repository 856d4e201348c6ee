-- Adds values to the waiting keys. Needs clock.lua, and keys.timeout, keys.envelopes, keys.channel.

-- Ids are big endian: 52 bits of microseconds, then 12 bits of sequence. Bytes that grow with offer order keep
-- values due in the same millisecond in that order, as ties in a zset are sorted by the member's bytes. The ninth byte
-- of a lean entry's id is what tells that it is one.
local function wrapper(envelope, now_us)
  local id_us, id_seq = now_us, -1
  return function(value)
    id_seq = id_seq + 1
    if id_seq == 4096 then
      id_us, id_seq = id_us + 1, 0
    end
    local high, low = math.floor(id_us / 1048576), (id_us % 1048576) * 4096 + id_seq
    local id = struct.pack('>I4I4', high, low)
    if envelope == 'legacy' then
      return struct.pack('c0<I8c0', id, #value, value), id
    end
    if envelope == 'lean' then
      id = id .. '\0'
    end
    return struct.pack('Bc0<I8c0', #id, id, #value, value), id
  end
end

-- Puts members in, and into the list of offers too unless they are lean. Gives false, and changes nothing, when one of
-- them is there already: after a step back of the server's clock an id may be in use, and an equal member be lost.
-- scored: due and member in turn.
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
  -- What was there before stands in the list.
  for _, member in ipairs(members) do
    if not redis.call('LPOS', keys.envelopes, member) then
      redis.call('ZREM', keys.timeout, member)
    end
  end
  return false
end

-- Tells every client that the head is due at another time than it knows of.
local function announce(due)
  redis.call('PUBLISH', keys.channel, string.format('%.0f', due))
end

-- Puts one value in, announces it when it is the new head, and gives its id and its member.
local function add(envelope, now_us, value, due)
  local wrap, member, id = wrapper(envelope, now_us)
  repeat
    member, id = wrap(value)
  until store(envelope, {member}, {due, member})
  if redis.call('ZRANGE', keys.timeout, 0, 0)[1] == member then
    announce(due)
  end
  return id, member
end
