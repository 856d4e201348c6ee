-- Moves values that are due to the ready list, in due order, and tells when the next one is.
-- Answers to: the transfer task behind RDelayedQueue (QueueTransferTask), since 3.10
-- KEYS: ready, timeout, envelopes, quarantine
-- ARGV: how many to move at most
-- RETURN: how many were moved, how many set aside, the server's time in epoch us, score of the new head or nil
-- COST: O(n (log m + p)), n moved, m waiting, p the place of an entry in the envelope list (0 in offer order)
-- INCLUDE: envelope
local time = redis.call('TIME')
local now_us = time[1] * 1000000 + time[2]
local due = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', math.floor(now_us / 1000), 'LIMIT', 0, ARGV[1])
local values, aside = {}, {}

if #due > 0 then
  -- Fails on a wrong type before anything is written.
  redis.call('LLEN', KEYS[1])
  redis.call('LLEN', KEYS[3])
  redis.call('LLEN', KEYS[4])
  for _, member in ipairs(due) do
    local value = unwrap(member)
    if value then
      values[#values + 1] = value
    else
      aside[#aside + 1] = redis.call('ZSCORE', KEYS[2], member) .. ' ' .. member
    end
    redis.call('LREM', KEYS[3], 1, member)
  end
  if #values > 0 then
    redis.call('RPUSH', KEYS[1], unpack(values))
  end
  if #aside > 0 then
    redis.call('RPUSH', KEYS[4], unpack(aside))
  end
  redis.call('ZREM', KEYS[2], unpack(due))
end

local head = redis.call('ZRANGE', KEYS[2], 0, 0, 'WITHSCORES')
return {#values, #aside, now_us, head[2]}
