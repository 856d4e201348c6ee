-- Takes exact contents out of some keys and puts others in, item by item, each item whole or not at all.
-- KEYS: any
-- ARGV: the numbers of the key with marks (0: none) and of a timeout zset whose head is announced (0: none); the mark, its number; the channel of the announcement; of each item how many steps it has, and for each step: what is done, the number of the key, two words
-- RETURN: a "1" for each item that was done, a "0" for each whose contents are others now; "done" where the mark tells that the call was carried out before
-- COST: O(n log m) for n steps, m the size of the keys; the way to each element of a list from its front
-- INCLUDE: clock, need, announce
--
-- Steps that take an exact content, and steps that put one. With = for - the content has to be there, and stays.
--
--   -l  element             +l  element, at the end of a list
--   -z  member, score       +z  member, score
--   -h  field, value        +h  field, value
--   -s  value of a string   +s  value of a string
--                           +n  field, value, where there is no such field
--                           +i  field, a number that is added to its value
--                           +o  element, unless the zset has it whose key is the one before
--                           +e  member, score, and into the list whose key is the next one, unless the zset has it
--                           +t  epoch ms until which the key lives at least, if it ends at all or was made by this call
local marks, zset, mark, number, channel = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3], ARGV[4], ARGV[5]
local _, now_ms = server_time()

if marks > 0 then
  local before = redis.call('HGET', KEYS[marks], mark)
  if before and tonumber(before) >= tonumber(number) then
    return reply_with('done')
  end
end
need({
  'DEL', 'GET', 'HDEL', 'HGET', 'HSET', 'HSETNX', 'LPOS', 'LREM', 'PEXPIREAT', 'PTTL', 'RPUSH', 'SET', 'ZADD', 'ZREM',
  'ZSCORE',
})

local stands = {
  l = function(key, element) return redis.call('LPOS', key, element) end,
  z = function(key, member, score)
    local found = redis.call('ZSCORE', key, member)
    return found and (found == score or tonumber(found) == tonumber(score))
  end,
  h = function(key, field, value) return redis.call('HGET', key, field) == value end,
  s = function(key, value) return redis.call('GET', key) == value end,
}
local take = {
  ['-l'] = function(key, element) redis.call('LREM', key, 1, element) end,
  ['-z'] = function(key, member) redis.call('ZREM', key, member) end,
  ['-h'] = function(key, field) redis.call('HDEL', key, field) end,
  ['-s'] = function(key) redis.call('DEL', key) end,
}
local made = {}
local put = {
  ['+l'] = function(key, element) redis.call('RPUSH', key, element) end,
  ['+o'] = function(key, element, _, zset_key)
    if not redis.call('ZSCORE', zset_key, element) then
      redis.call('RPUSH', key, element)
    end
  end,
  ['+z'] = function(key, member, score) redis.call('ZADD', key, score, member) end,
  ['+e'] = function(key, member, score, list)
    if redis.call('ZADD', key, 'NX', score, member) == 1 then
      redis.call('RPUSH', list, member)
    end
  end,
  ['+h'] = function(key, field, value) redis.call('HSET', key, field, value) end,
  ['+n'] = function(key, field, value) redis.call('HSETNX', key, field, value) end,
  ['+i'] = function(key, field, number)
    local before = redis.call('HGET', key, field) or 0
    redis.call('HSET', key, field, before + number)
  end,
  ['+s'] = function(key, value) redis.call('SET', key, value) end,
  ['+t'] = function(key, at_ms)
    local left = redis.call('PTTL', key)
    if left >= 0 and left < tonumber(at_ms) - now_ms or left == -1 and made[key] then
      redis.call('PEXPIREAT', key, at_ms)
    end
  end,
}

local head = zset > 0 and redis.call('ZRANGE', KEYS[zset], 0, 0)[1]
local done, at, is_any_done = {}, 6, false
while at <= #ARGV do
  local steps, as_told = tonumber(ARGV[at]), true
  local last = at + 4 * steps
  for i = at + 1, last, 4 do
    local check = stands[string.match(ARGV[i], '^[-=](.)$')]
    if check and not check(KEYS[tonumber(ARGV[i + 1])], ARGV[i + 2], ARGV[i + 3]) then
      as_told = false
      break
    end
  end
  -- A put comes first. One that Redis refuses for lack of memory has taken nothing.
  for i = at + 1, as_told and last or 0, 4 do
    local place = tonumber(ARGV[i + 1])
    local key, change = KEYS[place], put[ARGV[i]]
    if change then
      if made[key] == nil then
        made[key] = redis.call('EXISTS', key) == 0
      end
      change(key, ARGV[i + 2], ARGV[i + 3], KEYS[ARGV[i] == '+e' and place + 1 or place - 1])
    end
  end
  for i = at + 1, as_told and last or 0, 4 do
    local change = take[ARGV[i]]
    if change then
      change(KEYS[tonumber(ARGV[i + 1])], ARGV[i + 2], ARGV[i + 3])
    end
  end
  done[#done + 1] = as_told and '1' or '0'
  is_any_done = is_any_done or as_told
  at = last + 1
end
if marks > 0 and is_any_done then
  redis.call('HSET', KEYS[marks], mark, number)
end
local first = zset > 0 and redis.call('ZRANGE', KEYS[zset], 0, 0, 'WITHSCORES')
if first and first[1] and channel ~= '' and (first[1] ~= head or tonumber(first[2]) < now_ms) then
  announce(channel, string.format('%.0f', math.ceil(math.min(math.max(tonumber(first[2]), 0), 2 ^ 53))))
end
return reply_with(table.concat(done))
