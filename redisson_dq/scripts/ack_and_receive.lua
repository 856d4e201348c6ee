-- Ends leases for good and leases the next values, for a receiver that is busy. In the ordinary case only: no value of
-- the queue was delivered before, no value is in line, and no value that ends has a name. Otherwise it does nothing.
-- Answers to: nothing in RBlockingQueue; RReliableQueue.acknowledge(args) and pollMany(args) are alike
-- KEYS: ready, arrivals, timeout, channel, leases, deliveries, histories, alarm, turns, records, settings, events
-- ARGV: envelope ("current" or "legacy"), what the ids of this call begin with, how many at most, for how many us, the ids of the leases that end; last the process that calls
-- RETURN: nil for nothing done; else the server's time in epoch us; "acked" or "lost" of each; of each new lease its id, its deadline, its record and its value; how many values are left
-- COST: O(n log m), n leases that end or begin, m waiting
-- INCLUDE: clock, endings, popping, grant, announce, need, int, events, delivery_record, item_name
local envelope, nonce, count = ARGV[1], ARGV[2], tonumber(ARGV[3])
local now_us, now_ms = server_time()
local who = table.remove(ARGV)
local deadline = due_of(ARGV[4], now_us)
local ids = {unpack(ARGV, 5)}

-- Fails on a wrong type before anything is written.
count_ready()
redis.call('ZCARD', keys.timeout)
-- A key that is named three times counts three times.
local beside = redis.call('EXISTS', keys.turns, keys.histories, keys.settings, keys.settings, keys.settings)
if beside > 2 then
  beside = beside - 3
  keep_events(now_ms, who)
end
if
  beside > 0
  or redis.call('ZCOUNT', keys.leases, '-inf', int(now_ms)) > 0
  -- This call has run before.
  or redis.call('HEXISTS', keys.deliveries, nonce .. '\0\0') == 1
then
  return reply_with(false)
end
if redis.call('EXISTS', keys.records) == 1 then
  for _, text in ipairs(redis.call('HMGET', keys.deliveries, unpack(ids))) do
    if text and string.find(text, MARK, 1, true) then
      return reply_with(false)
    end
  end
end
need(RECEIVING, GRANTING, ENDING)
local outcomes, members, done = outcomes_of(ids, now_ms)
for _, id in ipairs(events_kept and done or {}) do
  note_event('done', '', parsed(redis.call('HGET', keys.deliveries, id)), nil, nil, id)
end
finish(members, done)
receive(count, function(value, digest)
  grant_new(envelope, new_id(nonce), value, digest, deadline, now_ms)
end, deadline, now_ms)
return reply_with({now_us, outcomes, granted, arrived + ready - popped})
