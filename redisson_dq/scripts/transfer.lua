-- Moves values that are due to the ready list, in due order, and returns when the next one is due.
-- Answers to: the transfer task behind RDelayedQueue (QueueTransferTask), since 3.10
-- KEYS: ready, arrivals, timeout, envelopes, channel, mover, quarantine, settings, records, forget, expired, recurring, recurring_due, alarm, leases, deliveries, histories, history_ends, turns, newer, events
-- ARGV: how many to move (and recurring offers to tell of) at most, for how many ms outcomes are remembered, who calls, "one" server or a "cluster", or "listening" where the caller hears the channel of one server, how slow the server is, the step: "deliver", or of a pass "keys" or where a slice ends (a place or "end"); for these steps the hints, how many keys are known, the keys that are looked for ("": all), the process that calls
-- RETURN: how many were moved, set aside, dropped as expired; the server's time in epoch us; "alone", "mover" or "reserve" (who moved nothing); of recurring offers whose occurrence has come: id, definition, its due, ...; of what is in a newer form the key's name and its form, ...; of the step: "found" or "lost" (a pass is needed) and how many hints are used up, or "keys", the keys, of how many in all, or the first place of the slice and what was found there, or "done" (nothing more is moved now); when there is something to do next, or nil
-- COST: O(n log m + p), n moved, m waiting, p the way along the list to them from its nearer ends; O(n log m) in offer order or lean; n is what fits into some 12 ms, and nothing is moved by the steps of a pass
-- INCLUDE: clock, need, mover, envelope, take_back, events
local now_us, now_ms = server_time()
local most, remember_ms, caller, in_cluster = tonumber(ARGV[1]), tonumber(ARGV[2]), ARGV[3], ARGV[4] == 'cluster'

-- Most queues have neither records nor recurring offers nor anything in a newer form, and are not paused.
local special = redis.call('EXISTS', keys.settings, keys.forget, keys.recurring_due, keys.newer) > 0
if special then
  local paused, history = unpack(redis.call('HMGET', keys.settings, 'paused', 'history'))
  if paused then
    return {0, 0, 0, now_us, 'alone', {}, {}, {'done'}}
  end
  keep_events(now_ms, ARGV[8], history)
end

local head = next_of(special, '-inf', now_ms)
local role, announced_us, subscribers = role_of(caller, in_cluster, head, now_us)
if subscribers == 1 and ARGV[4] == 'listening' then
  know_alarm(now_ms)
end
if role == 'reserve' then
  return {0, 0, 0, now_us, role, {}, {}, {'done'}, head}
end

if special then
  take_back()
end
local leased = redis.call('ZCARD', keys.leases) > 0
local pending = redis.call('ZCOUNT', keys.timeout, '-inf', now_ms)
-- Mostly one entry is due, and everybody waits for it. It needs nothing of the code further down.
if pending == 1 and most > 0 and not special and ARGV[6] == 'deliver' and ARGV[7] == '' then
  local member = redis.call('ZRANGE', keys.timeout, 0, 0)[1]
  local value, id = unwrap(member)
  if value and not (leased and #id ~= 9 and redis.call('ZSCORE', keys.leases, id)) then
    -- Fails on a wrong type before anything is written.
    redis.call('LLEN', keys.ready)
    -- The end of the list that LREM begins at, or 0 for an entry that is in no list. In a long list the entry is at the
    -- front or among the last, or else the general case finds it.
    local from = 0
    if #id == 8 then
      from = redis.call('LPOS', keys.envelopes, member, 'MAXLEN', 1) and 1
        or redis.call('LPOS', keys.envelopes, member, 'RANK', -1, 'MAXLEN', 1000) and -1
    end
    if from then
      need({'LREM', 'RPUSH', 'ZREMRANGEBYRANK'})
      -- Comes first. It needs no memory, so a full server does not refuse the later commands.
      redis.call('ZREMRANGEBYRANK', keys.timeout, 0, 0)
      if from ~= 0 then
        redis.call('LREM', keys.envelopes, from, member)
      end
      redis.call('RPUSH', keys.ready, value)
      local next = next_of(false, nil, now_ms, true)
      if role == 'mover' then
        lead(caller, next, now_us, now_us, announced_us)
      end
      return {1, 0, 0, now_us, role, {}, {}, {'done', 0}, next}
    end
  end
end

-- INCLUDE: first_write, remember, budget, hints, pass, lapse, deliver, sweep, occurrences, newer_met, check_types
local step, hints = ARGV[6], ARGV[6] == 'deliver' and hints_of(ARGV[7]) or nil
slowness = tonumber(ARGV[5])
leased = some_leased()
local due, answer = {}, nil
if step ~= 'deliver' and pending > FEW_DUE then
  -- A pass is under way: nothing is moved.
  answer = step == 'keys' and keys_from(tonumber(ARGV[7]), pending, now_us) or slice(tonumber(step), ARGV[7], now_us)
else
  -- A lease that ends has more to be noted.
  due = due_now(pending, leased and math.min(most, 1000) or most, hints)
end
if #due > 0 or special then
  need(DELIVERING, ERASING, {'ZRANGE'})
  if special then
    check_types({keys.arrivals}, {keys.forget, keys.recurring_due}, {keys.recurring, keys.records})
    need(RECORDING, {'HEXISTS'})
  end
  if leased then
    need(LAPSING)
  end
  change_nothing(function() redis.call('ZREMRANGEBYRANK', keys.timeout, 1, 0) end)
end
local moved, aside, late, left = deliver(due, pending, hints, now_us, now_ms, special, leased, remember_ms)
local recurring = {}
if special then
  sweep(now_ms, FEW_RECORDS)
  recurring = occurrences(now_ms, most)
end

-- A cancelled occurrence wakes nobody. But the one after it has to be made at its time.
local next = next_of(special, string.format('(%.0f', now_ms), now_ms, true)
if role == 'mover' then
  -- Occurrences have come, and this mover has to offer the next ones. Until then nothing is announced to the other
  -- clients. So when the mover dies before that, the reserve looks.
  local ends_us = pending > FEW_DUE and now_us + longest_us(redis.call('LLEN', keys.envelopes)) or now_us
  lead(caller, #recurring > 0 and now_ms or next, now_us, ends_us, announced_us)
end
return {moved, aside, late, now_us, role, recurring, newer_met(special), answer or left, next}
