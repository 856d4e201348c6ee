-- Moves values that are due to the ready list, in due order, and tells when the next one is.
-- Answers to: the transfer task behind RDelayedQueue (QueueTransferTask), since 3.10
-- KEYS: ready, timeout, envelopes, channel, mover, quarantine, settings, records, forget, expired, recurring, recurring_due
-- ARGV: how many to move (and recurring offers to tell of) at most, for how many ms outcomes are remembered, who calls, "one" server or a "cluster"
-- RETURN: how many were moved, set aside, dropped as expired; the server's time in epoch us; "alone", "mover" or "reserve" (who moved nothing); of recurring offers whose occurrence has come: id, definition, its due, ...; when there is something to do next, or nil
-- COST: O(n log m), n moved, m waiting, in offer order; in any other order O(n log m + m), and few are moved where m is large
-- INCLUDE: clock, envelope, find, records, erase, parts, mover

-- What one call may take, in us: 15 ms up to 100,000 waiting. More where a look at all of them gets on faster, and where
-- nothing else finds Java's entries: as long again as the look takes.
local function budget(size, ours)
  return math.max(15000, math.min(80000, ours and 0.4 * size - 25000 or 0.54 * size))
end

-- What is due, as much of it as one call may move.
local function due_now(now_us, now_ms, most)
  local count = math.min(most, redis.call('ZCOUNT', keys.timeout, '-inf', now_ms))
  if count > 100 then
    local first = redis.call('ZRANGE', keys.timeout, 0, 0)[1]
    local size = redis.call('LLEN', keys.envelopes)
    if redis.call('LINDEX', keys.envelopes, 0) == first then
      count = math.min(count, 1000)
    else
      local ours = offered(first, now_us)
      for _, tried in ipairs({5000, 3000, 2000, 1500, 1000, 700, 500, 300, 200, 100}) do
        local fits = math.min(count, tried)
        if 2 * fits + cost_of_erasing(fits, size, ours) <= budget(size, ours) or tried == 100 then
          count = fits
          break
        end
      end
    end
  end
  return redis.call('ZRANGEBYSCORE', keys.timeout, '-inf', now_ms, 'LIMIT', 0, count)
end

local now_us, now_ms = server_time()
local remember_ms = tonumber(ARGV[2])
local special = redis.call('EXISTS', keys.settings, keys.forget, keys.recurring_due) > 0
if special and redis.call('HGET', keys.settings, 'paused') then
  return {0, 0, 0, now_us, 'alone', {}}
end

local head = next_of(special, '-inf')
local role, announced_us = role_of(ARGV[3], ARGV[4] == 'cluster', head, now_us)
if role == 'reserve' then
  return {0, 0, 0, now_us, role, {}, head}
end

local due = due_now(now_us, now_ms, tonumber(ARGV[1]))
local values, aside, late, mirrored = {}, {}, {}, {}

if #due > 0 then
  -- Fails on a wrong type before anything is written.
  for _, key in ipairs({keys.ready, keys.envelopes, keys.quarantine, keys.expired}) do
    redis.call('LLEN', key)
  end
  local recorded = special and redis.call('HLEN', keys.records) > 0
  for _, member in ipairs(due) do
    local value, id = unwrap(member)
    local record = recorded and value and record_of(id)
    -- A lean entry stands in no list.
    if not id or #id == 8 then
      mirrored[#mirrored + 1] = member
    end
    if not value then
      aside[#aside + 1] = redis.call('ZSCORE', keys.timeout, member) .. ' ' .. member
    elseif record and record.latest > 0 and record.latest < now_ms then
      late[#late + 1] = string.format('%.0f ', record.due) .. value
      record.state = 'x'
    else
      values[#values + 1] = value
    end
    if record then
      remember(id, record, remember_ms, now_ms)
    end
  end
  -- First what needs memory, as that is what Redis may refuse.
  in_parts('RPUSH', keys.ready, values)
  in_parts('RPUSH', keys.quarantine, aside)
  if #late > 0 then
    in_parts('RPUSH', keys.expired, late)
    redis.call('LTRIM', keys.expired, -1000, -1)
    -- HINCRBY would fail on what is no number, after the values above were written.
    local before = tonumber(redis.call('HGET', keys.settings, 'expired') or 0) or 0
    redis.call('HSET', keys.settings, 'expired', string.format('%.0f', before + #late))
  end
  if #mirrored > 0 then
    erase(mirrored, now_us)
  end
  redis.call('ZREMRANGEBYRANK', keys.timeout, 0, #due - 1)
end

local recurring = {}
if special then
  sweep(now_ms)
  local come = redis.call('ZRANGEBYSCORE', keys.recurring_due, '-inf', now_ms, 'WITHSCORES', 'LIMIT', 0, ARGV[1])
  for i = 1, #come, 2 do
    local id, definition = come[i], redis.call('HGET', keys.recurring, 'd' .. come[i])
    if definition and redis.call('HEXISTS', keys.recurring, 'v' .. id) == 1 then
      recurring[#recurring + 1] = id
      recurring[#recurring + 1] = definition
      recurring[#recurring + 1] = come[i + 1]
    else
      -- Redis evicted the hash, or somebody deleted it: nothing can follow from what is left.
      redis.call('ZREM', keys.recurring_due, id)
    end
  end
end
-- An occurrence that was cancelled wakes nobody, and the one after it has to be made at its time all the same.
local next = next_of(special, string.format('(%.0f', now_ms))
if role == 'mover' then
  -- While occurrences that have come wait for the next ones, the others are told nothing: should this mover die before
  -- it has made them, the reserve looks.
  lead(ARGV[3], #recurring > 0 and now_ms or next, now_us, announced_us)
end
return {#values, #aside, #late, now_us, role, recurring, next}
