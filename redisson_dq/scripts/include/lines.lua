-- Keeps values of one key in line, and those that wait for a slot of a limit.
-- INCLUDE: eight_bytes, clock, envelope, find, delivery_record, forms, unlearn, leave, keep_alive, turn, shared_limit, check_types
--
--   lines    'k' .. key .. number     a turn: the place of a value among those of its key, as they came
--            'w' .. limit .. number   a turn of a value that waits for a slot of a limit, or a token of a rate by key
--            's' .. limit .. id       a slot, which ends with the lease of this id
--            'c' .. limit .. id       a value that was called up for a free slot, and has not come to it yet
--            Where keys take turns, a limit is 4 bytes of the handler and 12 bytes of the key
--   turns    turn                     id of the lease, or of the waiting entry, by which its value is known now
--            's' .. id                the limit that a lease has a slot of, and its home (shared_limit.lua); then the
--                                     handler whose keys take turns, and MARK
--            'f' .. handler           the key that had the last turn
--            'u' .. id                what a lease is unique by, and for how many ms from its ack on
--   handled  what a value is unique by -> until when an equal one is a duplicate
--
-- Keys, limits and unique keys are digests of 16 bytes. Numbers have 8. These keys hold no value. A value in line is a
-- lease, a waiting entry, or ready. A turn whose value is none of them is void.
local LINING = {
  'EXISTS', 'HDEL', 'HGET', 'HSET', 'LREM', 'LPUSH', 'PEXPIRE', 'PTTL', 'ZADD', 'ZCOUNT', 'ZRANGE', 'ZRANGEBYLEX',
  'ZRANGEBYSCORE', 'ZREM', 'ZREVRANGEBYLEX', 'ZSCORE',
}
-- Lua allows a script 200 local names. FIRST: the number of a first turn. BACK: of the first one that was handed back.
local in_turn = {MARK = '\0turns', NO_LIMIT = string.rep('\0', 16), FIRST = 2 ^ 32, BACK = 2 ^ 31, called = {}}
-- The turns whose leases this call has granted, and not written yet.
local begun = {}

local function check_lines()
  check_types({keys.ready, keys.envelopes}, {keys.lines, keys.handled, keys.histories, keys.history_ends}, {keys.turns})
end

local function line_of(prefix, most)
  return redis.call('ZRANGEBYLEX', keys.lines, '[' .. prefix, '[' .. prefix .. HIGHEST, 'LIMIT', 0, most)
end

local function number_of(turn)
  return #turn < 8 and 0 or number_at(turn, #turn - 7)
end

-- How many turns may be between two turns. Numbers may have gaps.
local function apart(turn, first)
  return math.max(0, math.min(number_of(turn) - number_of(first), redis.call('ZCARD', keys.lines)))
end

local function drop_turns(turns)
  if #turns > 0 then
    redis.call('ZREM', keys.lines, unpack(turns))
    redis.call('HDEL', keys.turns, unpack(turns))
  end
end

local function drop_turn(turn)
  drop_turns({turn})
end

-- The state of a turn's value: 'held'; 'waits', with its record, id and entry; 'ready', with its record and id; or nil.
-- Of the turn in the argument mine it is 'mine'.
local function state_of(turn, now_ms, mine)
  if turn == mine or begun[turn] then
    return turn == mine and 'mine' or 'held'
  end
  local id = redis.call('HGET', keys.turns, turn)
  local text = id and redis.call('HGET', keys.deliveries, id)
  local d = parsed(text)
  if newer_form('deliveries', text) then
    -- Whatever it is: nobody goes before it.
    return 'held'
  elseif not d then
    return nil
  end
  local deadline = redis.call('ZSCORE', keys.leases, id)
  if deadline and tonumber(deadline) > now_ms then
    return 'held'
  end
  -- For a lease that ended by itself, the time at which its value was ready again is not noted yet.
  d.order = tonumber(deadline or d.order)
  local member = find(id, d.order)
  if member then
    return 'waits', d, id, member
  end
  return 'ready', d, id
end

function in_turn.numbered(prefix, number)
  local turn = prefix .. eight_bytes(number)
  redis.call('ZADD', keys.lines, 0, turn)
  return turn
end

-- The last place of a line. A void turn with a number that no line comes to is none of ours.
local function new_turn(prefix, now_ms)
  local last
  -- Nearly always the last one is right.
  for _, most in ipairs({1, 100}) do
    for _, turn in ipairs(redis.call(
      'ZREVRANGEBYLEX', keys.lines, '[' .. prefix .. HIGHEST, '[' .. prefix, 'LIMIT', 0, most)) do
      local number = number_of(turn)
      if number >= 2 ^ 40 and (number >= 2 ^ 52 or not state_of(turn, now_ms)) then
        drop_turn(turn)
      else
        last = last or #turn == #prefix + 8 and turn
      end
    end
    if last then
      break
    end
  end
  return in_turn.numbered(prefix, last and number_of(last) + 1 or in_turn.FIRST)
end

-- Takes out a value that waits, and gives it to the caller, who puts it at the head of the ready list.
local function call(d, id, member, now_ms)
  redis.call('ZREM', keys.timeout, member)
  if #id == 8 then
    -- A parked value is nearer to the end than to the front of a long list.
    redis.call('LREM', keys.envelopes, -1, member)
  end
  unlearn(id)
  leave(id, d, now_ms, now_ms)
  return (unwrap(member))
end

local function call_up(d, id, member, now_ms)
  redis.call('LPUSH', keys.ready, call(d, id, member, now_ms))
end

-- How many pages of 100 turns one call looks at. A void turn takes some 2 us.
in_turn.PAGES = 20

-- The first of a line whose turn is not void, and whether void ones were before it. Those are dropped. The argument mine
-- is a turn whose value the caller has.
local function first_of(prefix, now_ms, mine)
  for page = 0, in_turn.PAGES do
    -- Nearly always the first one is not void.
    local most = page == 0 and 1 or 100
    local turns, void = line_of(prefix, most), {}
    for i, turn in ipairs(turns) do
      local state, d, id, member = state_of(turn, now_ms, mine)
      if state then
        drop_turns(void)
        return turn, page > 0 or i > 1, state, d, id, member
      end
      void[i] = turn
    end
    drop_turns(void)
    if #turns < most then
      break
    end
  end
  return nil
end

-- Calls up the first value of a key, unless it waits for a retry or a receiver holds it. The argument left: only where a
-- value before it has left without that.
local function call_next_of_key(prefix, now_ms, left)
  local _, skipped, state, d, id, member = first_of(prefix, now_ms)
  -- A value that was received before waits for its own time.
  if state == 'waits' and d.received == 0 and (skipped or not left) then
    call_up(d, id, member, now_ms)
  end
end

-- Whether no value is on its way.
function in_turn.none_ready()
  return redis.call('EXISTS', keys.ready, keys.arrivals) == 0
end

-- Takes out the value that waits for a slot of a limit by this turn, as call does. A value that keeps its place keeps the
-- turn until it begins.
local function call_for_limit(limit, turn, keeps, d, id, member, now_ms)
  check_other_queue()
  if not keeps then
    drop_turn(turn)
  end
  local called = 'c' .. limit .. id
  in_turn.called[keys.lines .. turn], in_turn.called[keys.lines .. called] = true, true
  redis.call('ZADD', keys.lines, 0, called)
  return call(d, id, member, now_ms)
end

-- Takes out the next value that waits for a slot of a limit, as call does, or gives nil. Also returns whether the next one
-- comes by itself: it has a time for a token, or keeps its place and is ready. A turn is dropped when its value was ready and
-- has gone. One that keeps no place loses its turn when it is ready: it takes a slot, or gets another turn.
local function next_of_limit(limit, now_ms)
  local from, last, looks = '[w' .. limit, '[w' .. limit .. HIGHEST, 100 * in_turn.PAGES
  while looks > 0 do
    local turns, gone = redis.call('ZRANGEBYLEX', keys.lines, from, last, 'LIMIT', 0, 100), {}
    for _, turn in ipairs(turns) do
      if not in_turn.called[keys.lines .. turn] then
        local state, d, id, member = state_of(turn, now_ms)
        local note = d and redis.call('HGET', keys.turns, 'p' .. id) or ''
        local keeps, waits = string.sub(note, -25) == turn, state == 'waits'
        if waits and string.match(note, '^%d+ rate ') or state == 'ready' and keeps and not in_turn.none_ready() then
          drop_turns(gone)
          return nil, true
        elseif waits then
          drop_turns(gone)
          return call_for_limit(limit, turn, keeps, d, id, member, now_ms)
        end
        gone[#gone + 1] = turn
        -- To find out that a value is ready takes more looks than to find out that it is gone.
        looks = looks - (state and 20 or 1)
        if looks <= 0 then
          break
        end
      end
    end
    drop_turns(gone)
    if #turns < 100 then
      return nil
    end
    from = '(w' .. string.sub(turns[100], 2)
  end
  -- Many have left. The last one of the line has come since then, and its call drops more of them.
  local turn = redis.call('ZREVRANGEBYLEX', keys.lines, last, '[w' .. limit, 'LIMIT', 0, 1)[1]
  if turn and not in_turn.called[keys.lines .. turn] then
    local state, d, id, member = state_of(turn, now_ms)
    if state == 'waits' then
      return call_for_limit(limit, turn, true, d, id, member, now_ms)
    end
  end
  return nil
end

-- Calls up the next value of a key whose value has left for good.
local function leave_line(d, now_ms)
  local turn = turn_of(d)
  if turn then
    drop_turn(turn)
    call_next_of_key(string.sub(turn, 1, -9), now_ms)
  end
end

-- Calls up the next value of this queue that waits for a slot of a limit, unless it is on its way. Returns whether there is
-- one.
local function call_next_of_limit(limit, now_ms)
  local value, comes = next_of_limit(limit, now_ms)
  if value then
    redis.call('LPUSH', keys.ready, value)
  end
  return value ~= nil or comes
end

-- Takes out the next value of the key whose turn it is, or gives nil. The keys that wait take turns in the order of their
-- digests, and each gives one value. The argument may says whether a key may have a turn. Few keys are looked at, and
-- other ones at the next time.
function in_turn.next(handler, now_ms, may)
  local from, last = '[w' .. handler, '[w' .. handler .. HIGHEST
  local key, first = redis.call('HGET', keys.turns, 'f' .. handler) or '', nil
  local value
  for _ = 1, 20 do
    local turn = redis.call('ZRANGEBYLEX', keys.lines, '(w' .. handler .. key .. HIGHEST, last, 'LIMIT', 0, 1)[1]
      or redis.call('ZRANGEBYLEX', keys.lines, from, last, 'LIMIT', 0, 1)[1]
    local limit = string.sub(turn or '', 2, 17)
    if limit == first or #limit < 16 then
      break
    end
    first, key = first or limit, string.sub(limit, 5)
    value = (not may or may(key)) and next_of_limit(limit, now_ms)
    if value then
      break
    end
  end
  if first and #line_of('w' .. handler, 1) > 0 then
    redis.call('HSET', keys.turns, 'f' .. handler, key)
  else
    redis.call('HDEL', keys.turns, 'f' .. handler)
  end
  return value or nil
end

-- Gives the slot of an ended lease to the next value that waits for one. Of a shared limit a value of another queue is
-- called up too, as nobody may receive from this one. The first to come has the slot, and the other one waits again.
local function leave_slot(id, now_ms)
  local text = redis.call('HGET', keys.turns, 's' .. id)
  if text then
    local limit, home, called = string.sub(text, 1, 16), string.sub(text, 17), false
    redis.call('HDEL', keys.turns, 's' .. id)
    if string.sub(home, -#in_turn.MARK) == in_turn.MARK then
      local handler = string.sub(home, -#in_turn.MARK - 4, -#in_turn.MARK - 1)
      home = string.sub(home, 1, -#in_turn.MARK - 5)
      -- A value that was called up before comes to this slot.
      local comes = #line_of('c' .. handler, 1) > 0 and redis.call('LLEN', keys.ready) > 0
      local value = not comes and in_turn.next(handler, now_ms)
      called = value and redis.call('LPUSH', keys.ready, value) > 0
      if limit == in_turn.NO_LIMIT then
        return
      end
    end
    redis.call('ZREM', keys.lines, 's' .. limit .. id)
    called = called or call_next_of_limit(limit, now_ms)
    if home ~= '' then
      redis.call('ZREM', slots_key(home), shared_slot(limit, home, id))
      if not called and homes.key_in(limit, home) ~= '' then
        -- Removes all notes of a key that is idle.
        redis.call('ZREM', slots_key(home), homes.queue_in(limit, home))
      end
      offer_slot(limit, home, 3, now_ms, function()
        return call_next_of_limit(limit, now_ms)
      end)
    end
  end
end

-- Remembers for a while the unique key of an acked value.
local function note_handled(id, now_us, now_ms)
  local text = redis.call('HGET', keys.turns, 'u' .. id)
  if text then
    local until_ms = due_of(math.min(tonumber(string.match(text, '^%d+$', 17) or 0), 2 ^ 53), now_us)
    redis.call('ZADD', keys.handled, string.format('%.0f', until_ms), string.sub(text, 1, 16))
    keep_alive(until_ms, now_ms, {keys.handled})
    redis.call('HDEL', keys.turns, 'u' .. id)
    for _, old in ipairs(redis.call('ZRANGEBYSCORE', keys.handled, '-inf', now_ms, 'LIMIT', 0, 20)) do
      redis.call('ZREM', keys.handled, old)
    end
  end
end

-- Values were acked: their turns and slots go to the next ones. records: false for one that is not known.
local function all_leave(records, ids, now_us, now_ms)
  for i, id in ipairs(ids) do
    note_handled(id, now_us, now_ms)
    leave_slot(id, now_ms)
    if records[i] then
      leave_line(records[i], now_ms)
    end
  end
end
