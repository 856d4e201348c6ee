-- Counts the values that wait for a receiver, and notes that one has held its values for a long time.
-- KEYS: ready, leases, alarm, lines
-- ARGV: the field of the note, the note (JSON)
-- RETURN: how many values are ready, or wait for the turn of their key or a slot of their limit
-- COST: O(log m), m waiting
-- INCLUDE: clock
--
-- The note is stored in alarm, after the time in epoch ms. It goes out of date when it is not written again.
local _, now_ms = server_time()
local LIFE = 60000
local ready = redis.call('LLEN', keys.ready)
local held = redis.call('ZCARD', keys.leases)
local limited = redis.call('ZLEXCOUNT', keys.lines, '[w', '(x')
-- A value that is handled has a turn of its key, too.
local keyed = math.max(0, redis.call('ZLEXCOUNT', keys.lines, '[k', '(l') - held)
redis.call('HSET', keys.alarm, ARGV[1], string.format('%.0f ', now_ms) .. ARGV[2])
if redis.call('PTTL', keys.alarm) < LIFE then
  redis.call('PEXPIRE', keys.alarm, LIFE)
end
return ready + limited + keyed
