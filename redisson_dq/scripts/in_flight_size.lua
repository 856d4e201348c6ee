-- How many values receivers hold.
-- Answers to: nothing in RBlockingQueue; RReliableQueue.countUnacknowledgedMessages() is alike
-- KEYS: timeout, leases
-- ARGV: none
-- RETURN: how many
-- COST: O(log l), l leases
-- INCLUDE: clock
local _, now_ms = server_time()
-- Redisson's delete() and the end of a time to live take the entries, and leave what says that they are held.
if redis.call('EXISTS', keys.timeout) == 0 then
  return 0
end
return redis.call('ZCOUNT', keys.leases, '(' .. string.format('%.0f', now_ms), '+inf')
