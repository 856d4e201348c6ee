-- Looks for one waiting item.
-- Answers to: nothing in Redisson
-- KEYS: timeout, records
-- ARGV: key ("i" and the id, or ""), id and due of the entry (or "")
-- RETURN: the server's time in epoch us; when it waits: its member, due, and key ("i" and the id of the caller's, "h" and the payload's hash, or "")
-- COST: O(log m), m waiting
-- INCLUDE: clock, locate
local now_us = server_time()
local id, due, record, member = locate(ARGV[1], ARGV[2], ARGV[3])
if not member then
  return {now_us}
end
return {now_us, member, due, record and record.key or ''}
