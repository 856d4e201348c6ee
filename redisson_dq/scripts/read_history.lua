-- Reads events of a queue's history, oldest first. Changes nothing.
-- KEYS: events
-- ARGV: the id to begin with ("(" before it: behind it), the last time in epoch ms (or ""), how many at most
-- RETURN: the server's time in epoch us; the id of the last event that was looked at, if more may follow, or nil; of each event: its id, and names and values of its fields in turn
-- COST: O(n + log e), n events read, 1 MB and 16 events more at most, e events
-- INCLUDE: clock
local now_us, now_ms = server_time()
-- Another program may have written events with times to come, with other fields, and with large ones.
local AHEAD, LARGEST, MOST_BYTES, AT_ONCE = 86400000, 1024, 1000000, 16
local FIELDS = {e = true, k = true, i = true, v = true, w = true, l = true, n = true, d = true, r = true}
local stop = string.format('%.0f', math.min(tonumber(ARGV[2]) or math.huge, now_ms + AHEAD))
local from, most, bytes = ARGV[1], tonumber(ARGV[3]), 0
local events = {}
while #events < most and bytes < MOST_BYTES do
  local count = math.min(AT_ONCE, most - #events, #events + 1)
  local some = redis.call('XRANGE', keys.events, from, stop, 'COUNT', count)
  for _, event in ipairs(some) do
    local told, fields = {event[1]}, event[2]
    for i = 1, #fields, 2 do
      bytes = bytes + #fields[i] + #fields[i + 1]
      if FIELDS[fields[i]] and #told < 32 then
        told[#told + 1], told[#told + 2] = fields[i], string.sub(fields[i + 1], 1, LARGEST)
      end
    end
    events[#events + 1] = told
    from = string.format('(%s', event[1])
  end
  if #some < count then
    return {now_us, false, events}
  end
end
return {now_us, string.sub(from, 2), events}
