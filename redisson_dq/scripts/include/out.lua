-- Takes one entry out.
-- INCLUDE: clock, ids, unlearn
local TAKING_OUT = {'HDEL', 'LINDEX', 'LLEN', 'LPOS', 'LRANGE', 'LREM', 'ZREM'}
-- How many entries in the middle of the list are read to find one of ours.
local IN_THE_MIDDLE = 16

-- 1 or -1, the end of the list that an entry is nearer to, as far as ids show. Where they do not, it is looked for
-- among the fresh ones at the end.
local function nearer_end(member)
  local size, now_us = redis.call('LLEN', keys.envelopes), server_time()
  local us, number = offered(member, now_us)
  local middle = math.floor(size / 2)
  local found = us and redis.call('LINDEX', keys.envelopes, middle)
  for i = 1, found and IN_THE_MIDDLE or 0 do
    local other_us, other_number = offered(found, now_us)
    if other_us then
      return (us > other_us or us == other_us and number > other_number) and -1 or 1
    end
    found = redis.call('LINDEX', keys.envelopes, middle + i)
    if not found then
      break
    end
  end
  return place_among_last(member, math.ceil(size / FRESH_PART)) and -1 or 1
end

-- A lean entry, whose id has nine bytes, is in no list, so no list is searched for it. text: as for unlearn.
local function take_out(id, member, text)
  local from = #id == 8 and nearer_end(member)
  unlearn(id, text)
  if from then
    redis.call('LREM', keys.envelopes, from, member)
  end
  redis.call('ZREM', keys.timeout, member)
end
