-- Leases values from the head of the ready list whose turn it is, and for which there is a slot and a token. Parks the
-- others: they wait until that may have changed. Then they are called up, or ready again.
-- KEYS: ready, arrivals, timeout, envelopes, channel, leases, deliveries, histories, history_ends, alarm, dead, dead_info, dead_index, capacity, capacity_channel, lines, turns, handled, records, forget, quarantine, settings, events
-- ARGV: envelope ("current" or "legacy"), what the ids of this call begin with, how many to lease at most, for how many us, after how many deliveries a value is a dead letter (0: never), "bounded" or "", how many limits follow; of each limit the digest and the home of its slots (or ""), how many slots (0: any number), the digest and the home of its rate (or ""), how many tokens in how many us (0: any number), how many the bucket holds, the words and names of a limit by key (or ""); of each value that was seen the digest of its bytes, the digest of its key (or ""), the number of its limit (or 0), what it is unique by (or "") and for how many us; last the process that calls
-- RETURN: the server's time in epoch us; how many became dead letters; of each lease its id, its deadline, its record and its value; of each duplicate that was dropped its value; how many were parked; how many were called up for free slots; in how many ms the first slot ends that values wait for (0: they wait, and no slot is taken), or -1; -2: this call has not looked for them
-- COST: O(n log m), n taken, m waiting
-- INCLUDE: clock, add, foreign, reap, delivery_record, lapse, history, unlearn, leave, turn, lines, shared_limit, bucket, slots, by_key, past, past_taking, forget_histories, named, settle, grant, regrant, digest, dead, room, keep_alive, announce, need, events, check_types, begin_events
local ADMITTING = {'LINDEX', 'LPOP', 'LRANGE', 'LSET', 'LTRIM', 'ZLEXCOUNT', 'ZRANDMEMBER', 'ZREVRANGEBYLEX'}
-- A value that is not called up waits as long as a lease, and this much longer for each value before it.
local APART_MS = 20
local envelope, nonce = ARGV[1], ARGV[2]
local count, visible_us, delivery_limit = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local bounded = ARGV[6] == 'bounded'
local now_us, now_ms = server_time()
local who = table.remove(ARGV)

check_lines()
check_types(
  {keys.arrivals, keys.dead}, {keys.timeout, keys.leases, keys.dead_index, keys.forget},
  {keys.deliveries, keys.dead_info, keys.records})
-- The call was sent again, as its reply was lost: it gives the same leases. What it told of slots a look finds.
if granted_before(nonce, now_ms) then
  return reply_with({now_us, 0, granted, {}, 0, 0, 0})
end
local written = envelope == 'legacy' and 'legacy' or 'lean'
need(ADMITTING, GRANTING, LAPSING, RECALLING, BURYING, LINING, FOLLOWING, rights_to_add(written))
if bounded then
  need({'GET', 'INCRBY'})
end

-- Lua allows a script 200 local names.
local limits, seen, known = nil, {}, nil
do
  local at
  limits, at = slots.limits_from(8, tonumber(ARGV[7]))
  slots.check(limits)
  for i = at, #ARGV, 5 do
    seen[ARGV[i]] = {
      key = ARGV[i + 1], limit = limits[tonumber(ARGV[i + 2])], unique = ARGV[i + 3], unique_us = ARGV[i + 4],
    }
  end
  known = begin_events(keys.histories, now_ms, who)
  known = redis.call('ZCOUNT', keys.leases, '-inf', now_ms) > 0 or known
end
set_scored_aside(keys.lines)
if known then
  reap(now_ms, count + 20)
end
local deadline = due_of(visible_us, now_us)
local add, latest = adder(written, now_us), deadline
local popped, buried, parked, cancelled, dropped = 0, 0, 0, 0, {}

-- -- one value -------------------------------------------------------------------------------------------------------

-- Lua allows a script 200 local names.
local steps = {}

-- Whether a value came out of the ready list that no call has put at its head. Those that were called up have left it then.
local met_new = false
in_turn.new = 0

-- A value, with what is known of it:
--
--   asked        what the caller has seen of it
--   d            the record of its deliveries
--   limit, line  its limit, and the line that keeps the order of its key, or nil
--   in_turns     its key takes turns with others
--   had          the place that it had in that line
--   has_slot     it was called up for a slot
--   is_next      it is the turn of its key
--   returns      it was parked or received before, and does not go to the end of the waiting ones
--   handed_back  untouched, so it goes before all others of the line
function steps.known_as(value, digest, asked, from_ready)
  local d = known and history_of(value, digest) or unknown(digest)
  if not d.id and from_ready then
    met_new, in_turn.new = true, in_turn.new + 1
  end
  local limit = by_keys.limit_of(asked.limit, d)
  if limit ~= asked.limit then
    by_keys.named[#by_keys.named + 1] = limit
  end
  local v = {
    value = value, digest = digest, asked = asked, d = d, limit = limit, line = limit and by_keys.line_of(limit),
    in_turns = limit and limit.turns ~= '', returns = d.turn ~= nil or d.attempt > 0,
  }
  if d.id and limit then
    v.has_slot = redis.call('ZREM', keys.lines, 'c' .. limit.id .. d.id) == 1
    if limit.label then
      d.since, v.had = by_keys.forget_parked(d.id)
      by_keys.forget_slot(limit, d.id)
    end
    if v.in_turns then
      v.is_next = redis.call('ZREM', keys.lines, 'c' .. limit.turns .. d.id, 'g' .. limit.rate .. d.id) > 0 or v.has_slot
        or in_turn.was_called(digest, limit, true)
    end
    if v.had and (v.is_next or not v.in_turns) then
      drop_turn(v.had)
    end
    v.had = v.had and v.line and string.sub(v.had, 1, 17) == 'w' .. v.line and v.had or nil
  end
  v.handed_back = v.line and not v.had and d.attempt == 0 and d.received > 0
  v.is_next = v.is_next or v.in_turns and v.handed_back
  return v
end

-- Makes the value wait. Returns the id of its entry. The argument label says for what, where a limit by key parks it.
function steps.park(v, due, label)
  local d = v.d
  d.turn = v.turn and text_of(v.turn) or ''
  local entry = add(v.value, due)
  if label then
    by_keys.note_parked(entry, d.since or now_ms, label)
  end
  leave(entry, d, due, now_ms)
  follow(d, entry)
  known_by(d, 'l', entry, due, now_ms)
  note_event('parked', '', d, nil, due)
  parked, latest = parked + 1, math.max(latest, due)
  return entry
end

-- Makes a value wait for the turn of its key, or again for the turn that it had.
function in_turn.park(v)
  local turns = v.limit.turns
  local mine = by_keys.place_of(turns, v.had, false, now_ms)
  local due = deadline + APART_MS * apart(mine, line_of('w' .. turns, 1)[1])
  local entry = steps.park(v, due, v.limit.turns_label .. '\0' .. mine)
  redis.call('HSET', keys.turns, mine, entry)
  return entry
end

-- Whether nobody is to receive the value: it was cancelled, was delivered too often, or is a duplicate.
function steps.ends(v)
  local d, asked = v.d, v.asked
  if was_cancelled(d) then
    leave_line(d, now_ms)
    settle(d, '', now_ms)
    note_event('dropped', '', d)
    cancelled = cancelled + 1
    return true
  end
  if asked.key == '' and turn_of(d) then
    leave_line(d, now_ms)
    d.turn = nil
  end
  if delivery_limit > 0 and d.attempt >= delivery_limit then
    leave_line(d, now_ms)
    to_dead(letter_id(nonce), v.value, d, '', now_ms)
    buried = buried + 1
    return true
  end
  local until_ms = asked.unique ~= '' and tonumber(redis.call('ZSCORE', keys.handled, asked.unique) or nil)
  if until_ms and until_ms > now_ms then
    leave_line(d, now_ms)
    dropped[#dropped + 1] = v.value
    settle(d, d.id, now_ms)
    note_event('dropped', '', d)
    return true
  end
  return false
end

-- Finds the turn of a value in the line of its key, and returns how many are before it. Values that were ready before it
-- have left the list.
function steps.find_turn(v)
  local d, came = v.d, v.d.order
  local prefix, turn = 'k' .. v.asked.key, turn_of(d)
  if not (turn and string.sub(turn, 1, 17) == prefix and redis.call('ZSCORE', keys.lines, turn)) then
    turn = new_turn(prefix, now_ms)
    came = 0
  end
  v.turn = turn
  for _ = 1, 100 do
    local first, left, state, other, id, member = first_of(prefix, now_ms, turn)
    if not first then
      break
    elseif state == 'mine' then
      return 0
    elseif state == 'ready' and other.order < came then
      -- Another client has taken it, as the ready list is in order.
      local item = item_at(id, unlearn(id))
      if item ~= id then
        forget_place(item)
      end
      drop_turn(first)
    else
      if left and state == 'waits' and other.received == 0 then
        -- The values before it have left without calling it up.
        call_up(other, id, member, now_ms)
      end
      return apart(turn, first)
    end
  end
  return 100
end

function steps.waits_for_key(v)
  local before = v.asked.key ~= '' and steps.find_turn(v) or 0
  if before > 0 then
    -- When its key lets it, it is the last that waits for a slot or a token.
    drop_turns({v.had})
    steps.park(v, deadline + APART_MS * before)
  end
  return before > 0
end

function steps.waits_for_turn(v)
  local waits = v.in_turns and not v.is_next
    and (grants >= count or #line_of('w' .. string.sub(v.limit.turns, 1, 4), 1) > 0)
  if waits then
    in_turn.park(v)
  end
  return waits
end

-- The first value of its line that goes before it. A retry begins when it comes.
function steps.first_before(v)
  if not v.line or v.in_turns then
    return nil
  end
  local number = v.had and number_of(v.had) or v.handed_back and in_turn.FIRST or v.d.attempt > 0 and 0 or math.huge
  return by_keys.first_before(v.line, number, v.has_slot and 0 or v.d.order, now_ms)
end

function steps.waits_for_slot(v)
  local limit = v.limit
  if not limit or limit.slots == 0 then
    return false
  end
  if not v.in_turns and (v.has_slot or v.had or v.before) then
    by_keys.came[limit.id] = limit
  end
  local in_order = limit.in_order == 'id'
  local first = first_of('w' .. limit.id, now_ms)
  if not (in_order and v.before
    or first and not in_order and not v.returns or slots.taken(limit, now_ms) >= limit.slots) then
    return false
  end
  if v.in_turns then
    local entry = in_turn.park(v)
    if first or limit.home == '' then
      return true
    end
    -- For a slot that becomes free in another queue.
    redis.call('HSET', keys.turns, new_turn('w' .. limit.id, now_ms), entry)
  else
    local mine = by_keys.place_of(limit.id, in_order and v.had, in_order and v.handed_back, now_ms)
    local place = in_order and mine or v.line and by_keys.place_of(v.line, v.had, v.handed_back, now_ms)
    local due = deadline + APART_MS * apart(mine, first or mine)
    local entry = steps.park(v, due, place and limit.label .. '\0' .. place or limit.label)
    redis.call('HSET', keys.turns, mine, entry, place or mine, entry)
  end
  if limit.home ~= '' then
    redis.call('ZADD', slots_key(limit.home), 0, homes.queue_in(limit.id, limit.home))
  end
  return true
end

-- When a value that finds no token gets one: the time of the next token, or of the one after those for values before it,
-- or one interval after the time that was given last.
function steps.token_at(v, bucket, mine)
  local function time_of(token)
    return bucket.from + math.ceil((token - bucket.level) * v.limit.per_us / v.limit.tokens)
  end
  local booked = bucket.booked + math.ceil(v.limit.per_us / v.limit.tokens)
  if v.before then
    local after = apart(mine, v.before)
    return math.max(v.had and 0 or booked, now_us + 1000 * APART_MS * after, time_of(after + 1))
  elseif bucket.booked <= now_us or v.had or v.handed_back then
    return time_of(bucket.tokens + 1)
  end
  return booked
end

-- Whether the value waits for a token. Otherwise it has taken one.
function steps.waits_for_token(v)
  local limit = v.limit
  if not limit or limit.tokens == 0 then
    return false
  end
  local bucket = buckets.of(limit, now_us)
  if not (v.before or bucket.tokens < 1 or not v.returns and bucket.booked > now_us) then
    buckets.write(limit, bucket.from, bucket.level - 1, bucket.booked, now_us)
    return false
  elseif v.in_turns and by_keys.is_booked(limit, now_ms) then
    in_turn.park(v)
    return true
  end
  local mine = v.line and by_keys.place_of(v.line, v.had, v.handed_back, now_ms)
  local booked = steps.token_at(v, bucket, mine)
  buckets.write(limit, bucket.noted_from, bucket.noted_level, math.max(booked, bucket.booked), now_us)
  buckets.note_queue(limit)
  local label = mine and limit.rate_label .. '\0' .. mine or limit.rate_label
  local entry = steps.park(v, math.ceil(booked / 1000), label)
  if mine then
    redis.call('HSET', keys.turns, mine, entry)
  end
  if v.in_turns then
    redis.call('ZADD', keys.lines, 0, 'g' .. limit.rate .. entry)
  end
  return true
end

-- Leases the value, with its slot.
function steps.begin(v)
  local limit, asked = v.limit, v.asked
  v.d.turn = v.turn and text_of(v.turn)
  begun[v.turn or ''] = true
  local id = next_id(nonce, known)
  grant(envelope, id, v.value, v.digest, v.d, deadline, now_ms)
  local has_slots = limit and limit.slots > 0
  if v.in_turns then
    local of_limit = has_slots and limit.id .. limit.home or in_turn.NO_LIMIT
    redis.call('HSET', keys.turns, 's' .. id, of_limit .. string.sub(limit.turns, 1, 4) .. in_turn.MARK)
  end
  if has_slots then
    redis.call('ZADD', keys.lines, 0, 's' .. limit.id .. id)
    if not v.in_turns then
      redis.call('HSET', keys.turns, 's' .. id, limit.id .. limit.home)
    end
    if limit.home ~= '' then
      redis.call('ZADD', slots_key(limit.home), 0, shared_slot(limit.id, limit.home, id))
    end
    -- The turn counts from now on, before the leases are written.
    redis.call('ZADD', keys.leases, deadline, id)
  end
  if asked.unique ~= '' then
    redis.call('HSET', keys.turns, 'u' .. id, asked.unique .. asked.unique_us)
  end
end

local function admit(value, digest, asked, from_ready)
  local v = steps.known_as(value, digest, asked, from_ready)
  if steps.ends(v) or steps.waits_for_key(v) or steps.waits_for_turn(v) then
    return
  end
  v.before = steps.first_before(v)
  if not steps.waits_for_slot(v) and not steps.waits_for_token(v) then
    steps.begin(v)
  end
end

-- -- the ready list --------------------------------------------------------------------------------------------------

-- The limit of a value by its own key. The argument id is that of its record, or nil.
function in_turn.limit_by(limit, digest, id)
  local d = id and parsed(redis.call('HGET', keys.deliveries, id))
  return by_keys.limit_of(limit, d or unknown(digest))
end

-- Whether a value with these bytes was called up for its turn. The argument comes: it has come.
function in_turn.was_called(digest, limit, comes)
  for _, member in ipairs(known_of(digest)) do
    local id = string.sub(member, 41)
    local of_value = in_turn.limit_by(limit, digest, id)
    for _, name in ipairs({of_value.turns, of_value.id}) do
      local called = 'c' .. name .. id
      local was_called = comes and redis.call('ZREM', keys.lines, called) == 1
        or not comes and redis.call('ZSCORE', keys.lines, called)
      if was_called then
        return true
      end
    end
  end
  return false
end

-- The limit of a value in the list.
function in_turn.limit_of(digest, limit)
  if not limit or limit.turns_context == '' then
    return limit
  end
  local member = known_of(digest)[1]
  return in_turn.limit_by(limit, digest, member and string.sub(member, 41))
end

-- Whether a value has had a turn, and is ready again by its due time.
function in_turn.has_turn(digest)
  for _, member in ipairs(known and known_of(digest) or {}) do
    if redis.call('HEXISTS', keys.turns, 'p' .. string.sub(member, 41)) == 1 then
      return true
    end
  end
  return false
end

-- How many values of a key wait for its turns while more stay in the list, and how many values one call parks.
in_turn.ahead, in_turn.MOST = past.AHEAD + count, 100
for _, limit in ipairs(limits) do
  in_turn.sorts = in_turn.sorts or limit.turns ~= ''
  in_turn.by_context = in_turn.by_context or limit.turns_context ~= ''
end

-- Whether a value that takes turns stays in the ready list: enough of its key wait already.
function in_turn.stays(digest, limit)
  -- Where a limit holds up all values of a key, the list has to empty, or calls with free slots would never wait.
  local has_limit = limit.slots > 0 or limit.tokens > 0
  if parked < in_turn.ahead and grants < count and has_limit then
    return false
  end
  limit = in_turn.limit_of(digest, limit)
  if past.waiting(limit.turns) >= in_turn.ahead then
    in_turn.head = limit.turns
    met_new = met_new or not known or #known_of(digest) == 0
    return true
  end
  return parked >= in_turn.MOST
end

local unseen = false
local function admit_from(key)
  while popped < 1000 do
    if grants >= count and not in_turn.sorts then
      return false
    end
    local value = redis.call('LINDEX', key, 0)
    if not value then
      return true
    end
    local digest = digest_of(value)
    if not seen[digest] then
      unseen = true
      return false
    end
    local limit = seen[digest].limit
    local takes_turns = limit and limit.turns ~= ''
    local is_called = takes_turns and known and in_turn.was_called(digest, limit)
    -- Without a free slot only values that wait for turns are still taken: those of keys that come later get theirs as
    -- soon.
    if grants >= count and (is_called or not takes_turns) then
      return false
    elseif takes_turns and not is_called and key == keys.ready and in_turn.stays(digest, limit) then
      return false
    end
    redis.call('LPOP', key)
    popped = popped + 1
    admit(value, digest, seen[digest], key == keys.ready)
  end
  return false
end
local all = admit_from(keys.arrivals) and admit_from(keys.ready)
if in_turn.sorts and all then
  redis.call('HDEL', keys.turns, 'n')
elseif in_turn.sorts then
  local marks = taking.note_taken(in_turn.new)
  if in_turn.head then
    for _, each in ipairs(taking.take(
      marks, in_turn.head, seen, in_turn, in_turn.ahead, count - grants,
      in_turn.by_context and in_turn.MOST or past.BEHIND)) do
      popped = popped + 1
      admit(each.value, each.digest, each.asked, false)
    end
  end
end

-- Another value at the head is looked at next, and the slots with it.
if unseen then
  slots.next_ms = -2
else
  by_keys.fill_all(limits, now_us, now_ms, all or met_new)
end
-- More values of the keys whose next ones have come.
for _, limit in pairs(by_keys.came) do
  slots.call_up(limit, slots.free(limit, now_us, now_ms), now_ms, false)
end
by_keys.take_turns(limits, count - grants, now_us, now_ms, all or met_new)
by_keys.tidy_all(limits, 2 * popped + 3, now_us, now_ms)

write_grants(deadline, now_ms)
if popped > 0 then
  keep_alive(latest, now_ms, {keys.lines, keys.turns})
  for key in pairs(slots.keys_of(limits)) do
    keep_alive(latest, now_ms, {key})
  end
end
if known then
  forget_histories(now_ms, false, FEW_HISTORIES)
end
by_keys.drop_void(3, now_ms)
if bounded then
  make_room(buried + cancelled + #dropped)
end
return reply_with({now_us, buried, granted, dropped, parked, slots.called_up, slots.next_ms})
