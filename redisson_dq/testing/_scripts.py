"""The library's scripts with the test's time: their own text after a prelude that replaces Redis's clock.

The prelude comes before the text used in production, and shadows Lua's ``redis`` with its own table. So the scripts
themselves do not depend on tests, and cost nothing for them.

* ``TIME`` returns the time of the test. It stands still between two moves of the clock.
* The expiry of a key is set a hundred years later than intended, so Redis's own clock never removes a key. The intended
  time is recorded, and the test clock removes the key at that time.
* Ids of entries contain the time. While time stands still, a counter keeps them unique and in order.
* Channels belong to a server, not to a database. So each clock has its own: other databases get no message about its
  time, and do not count as movers of its queues.

A transfer can run ahead: it goes from one due time of its queue to the next in one call. The test clock allows this up
to a moment, if it has no observable effect: nobody waits for the queue's values, and nothing else is due before that
moment.
"""

from __future__ import annotations

import hashlib
from functools import cache

from redisson_dq.scripts.script import Script, load, names, variants

__all__ = [
    "CHANNEL_OF",
    "CLOCK_KEY",
    "COMMAND",
    "MARK_KEY",
    "OWNER_KEY",
    "OWN_KEYS",
    "STEP",
    "by_sha",
    "is_transfer",
    "needs_time",
    "running_ahead",
    "sha_of",
    "timed",
]

#: Marks a database whose data was all made by tests.
MARK_KEY = "redisson_dq:test"
#: The time of the test, in epoch us.
CLOCK_KEY = "redisson_dq:test_clock"
#: Identifies the clock.
OWNER_KEY = "redisson_dq:test_owner"
#: The separator between the name of a channel and the clock's owner.
CHANNEL_OF = "|redisson_dq:test:"
_ENDS_KEY = "redisson_dq:test_ends"
_IDS_KEY = "redisson_dq:test_ids"
#: The other keys that a test clock keeps in its database.
OWN_KEYS = (CLOCK_KEY, OWNER_KEY, _ENDS_KEY, _IDS_KEY)

# How much later than intended Redis removes a key, in ms.
_LATER_MS = 100 * 365 * 86_400_000

# The most transfers of one call that runs ahead, which then takes about 50 ms. A transfer of items of several moments
# counts more than once.
_TRANSFERS, _TOGETHER, _COUNTS_FOR = 1000, 500, 100

_REAL = f"""\
local function real_ends_at(call, key)
  local left = call('PTTL', key)
  if left < 0 then
    return left
  end
  local at = redis.pcall('PEXPIRETIME', key)
  if type(at) ~= 'number' then
    -- Redis 6.2 tells what is left alone. The clock goes on inside a script there.
    repeat
      local before, now = call('TIME'), nil
      left, now = call('PTTL', key), call('TIME')
      at = now[1] * 1000 + math.floor(now[2] / 1000) + left
    until before[1] == now[1] and math.floor(before[2] / 1000) == math.floor(now[2] / 1000)
  end
  return at - {_LATER_MS}
end
"""

# Removes the keys that have expired by then. Returns when the next key expires, or nil.
_END = f"""\
local function end_keys(call, now_ms)
  while true do
    local first = call('ZRANGE', '{_ENDS_KEY}', 0, 0, 'WITHSCORES')
    if not first[1] then
      return nil
    end
    local key, at = first[1], real_ends_at(call, first[1])
    if at < 0 then
      -- The key is gone, or has no end any more.
      call('ZREM', '{_ENDS_KEY}', key)
    elseif at > now_ms then
      if at <= tonumber(first[2]) then
        return at
      end
      call('ZADD', '{_ENDS_KEY}', at, key)
    else
      call('DEL', key)
      call('ZREM', '{_ENDS_KEY}', key)
    end
  end
end
"""

_PRELUDE = f"""\
local redis, ids_from, run_at = (function(redis)
  local CLOCK, ENDS, IDS, OWNER = '{CLOCK_KEY}', '{_ENDS_KEY}', '{_IDS_KEY}', '{OWNER_KEY}'
  -- The time of a call that runs ahead.
  local ahead_us
  local function now_us()
    local us = ahead_us or redis.call('GET', CLOCK)
    if not us then
      error('the test clock of this database is gone')
    end
    return tonumber(us)
  end
{_REAL}
  local function ends(call, key, at)
    if at * 1000 <= now_us() then
      return call('PEXPIREAT', key, 1)
    end
    local done = call('PEXPIREAT', key, string.format('%.0f', at + {_LATER_MS}))
    if done == 1 then
      call('ZADD', ENDS, string.format('%.0f', at), key)
    end
    return done
  end
  local function note(call, key)
    local at = real_ends_at(call, key)
    if at >= 0 then
      call('ZADD', ENDS, string.format('%.0f', at), key)
    end
  end
  local function ours(channel)
    return channel .. '{CHANNEL_OF}' .. (redis.call('GET', OWNER) or '')
  end
  local function publish(call, channel, message)
    return call('PUBLISH', ours(channel), message)
  end
  local function pubsub(call, what, ...)
    if string.upper(what) ~= 'NUMSUB' then
      return call('PUBSUB', what, ...)
    end
    local asked, channels = {{...}}, {{}}
    for place, channel in ipairs(asked) do
      channels[place] = ours(channel)
    end
    local counts = call('PUBSUB', what, unpack(channels))
    for place, channel in ipairs(counts.err and {{}} or asked) do
      counts[2 * place - 1] = channel
    end
    return counts
  end
  local function answering(call)
    local answers = {{
      PUBLISH = function(...) return publish(call, ...) end,
      publish = function(...) return publish(call, ...) end,
      PUBSUB = function(...) return pubsub(call, ...) end,
      TIME = function()
        local us = now_us()
        return {{string.format('%.0f', math.floor(us / 1000000)), string.format('%.0f', us % 1000000)}}
      end,
      PEXPIRE = function(key, ms) return ends(call, key, math.floor(now_us() / 1000) + ms) end,
      PEXPIREAT = function(key, at) return ends(call, key, tonumber(at)) end,
      PTTL = function(key)
        local at = real_ends_at(call, key)
        return at < 0 and at or math.max(0, at - math.floor(now_us() / 1000))
      end,
      PEXPIRETIME = function(key) return real_ends_at(call, key) end,
      SET = function(...)
        local key, value, option, ms = ...
        if option ~= 'PX' then
          return call('SET', ...)
        end
        local done = call('SET', key, value, select(5, ...))
        if type(done) == 'table' and done.ok then
          ends(call, key, math.floor(now_us() / 1000) + ms)
        end
        return done
      end,
      RENAME = function(key, new)
        local done = call('RENAME', key, new)
        note(call, new)
        return done
      end,
      COPY = function(key, new, ...)
        local done = call('COPY', key, new, ...)
        note(call, new)
        return done
      end,
      RESTORE = function(key, ms, ...)
        local done = call('RESTORE', key, 0, ...)
        if tonumber(ms) > 0 and not done.err then
          ends(call, key, math.floor(now_us() / 1000) + ms)
        end
        return done
      end,
    }}
    return function(command, ...)
      local answer = answers[command]
      if answer then
        return answer(...)
      end
      return call(command, ...)
    end
  end
  local function ids_from(now)
    local most = #ARGV + 256
    local first = redis.call('INCRBY', IDS, most) - most
    local us = now + math.floor(first / 4096)
    return math.floor(us / 1048576), (us % 1048576) * 4096 + first % 4096 - 1
  end
  local own = {{}}
  for name, value in pairs(redis) do
    own[name] = value
  end
  own.call, own.pcall = answering(redis.call), answering(redis.pcall)
  return own, ids_from, function(us) ahead_us = us end
end)(redis)
"""

# Where an entry's id begins, in include/add.lua.
_IDS = "math.floor(now_us / 1048576), (now_us % 1048576) * 4096 - 1"

#: Replaces a plain command that depends on time. Its words are ARGV.
COMMAND = _PRELUDE + "return redis.call(unpack(ARGV))"
_COMMANDS = frozenset((b"TIME", b"PTTL", b"PEXPIRE", b"PEXPIREAT", b"PEXPIRETIME", b"RENAME", b"COPY", b"RESTORE"))

#: Moves the time to ARGV[1] (epoch us; "" leaves it), and removes the keys that have expired by then. Returns when the
#: next key expires, in epoch ms, or nil.
STEP = f"""\
{_REAL}{_END}
if ARGV[1] ~= '' then
  -- A server without memory refuses a script only before it has written.
  redis.call('PERSIST', '{CLOCK_KEY}')
  redis.call('SET', '{CLOCK_KEY}', ARGV[1])
end
return end_keys(redis.call, math.floor(redis.call('GET', '{CLOCK_KEY}') / 1000))
"""


def _key(name: str) -> str:
    """A key of the transfer, by its name in the script's header."""
    return f"KEYS[{load('transfer').keys.index(name) + 1}]"


# The transfer's own text is between these two. The last of its ARGV is the moment up to which it may go.
_BEFORE = f"""\
{_REAL}{_END}
local call = redis.call
{_PRELUDE}
local function transfer(KEYS, ARGV)
"""
_BEHIND = f"""
end
local until_us = tonumber(table.remove(ARGV))
local answer = transfer(KEYS, ARGV)
local moved, began_us, left, plain = answer[1], answer[4], {_TRANSFERS}, true
if answer[8][1] ~= 'done' then
  return answer
end
-- The client has a step of its pass, and hints, for the first call alone.
ARGV[6], ARGV[7] = 'deliver', ''
while left > 0 do
  local set_aside, late, _, role, recurring, newer, _, next_ms = unpack(answer, 2, 9)
  local is_told = set_aside + late + #recurring + #newer > 0
  if role ~= 'alone' or is_told or not next_ms or next_ms * 1000 >= until_us then
    break
  end
  if call('ZCOUNT', {_key("recurring_due")}, '-inf', next_ms) > 0 then
    -- The client offers the next occurrence, and does so at that moment.
    break
  end
  local at_us = math.max(began_us, next_ms * 1000)
  -- Nothing but the due times depends on the time in a queue without these. To search a shuffled list for items of many
  -- moments at once takes a small part of the time that a search for each takes.
  local several = plain and call('ZCARD', {_key("leases")}) == 0 and call(
    'EXISTS', {_key("settings")}, {_key("forget")}, {_key("recurring_due")}, {_key("newer")}) == 0
  if several then
    local last = math.min({_TOGETHER}, call('ZCARD', {_key("timeout")})) - 1
    local last_ms = call('ZRANGE', {_key("timeout")}, last, last, 'WITHSCORES')[2]
    at_us = math.max(at_us, math.min(last_ms * 1000, until_us - 1))
  end
  end_keys(call, math.floor(at_us / 1000))
  run_at(at_us)
  answer = transfer(KEYS, ARGV)
  moved, left = moved + answer[1], left - (several and {_COUNTS_FOR} or 1)
  if answer[8][1] == 'lost' then
    if not several then
      break
    end
    -- A search at once is too much here.
    plain = false
  end
end
-- To the client all of it was one transfer at the first moment. What is due later is found at its own moment.
answer[1], answer[4] = moved, began_us
if answer[8][1] ~= 'done' then
  answer[8] = {{'done', 0}}
end
return answer
"""


@cache
def timed(source: str) -> str:
    """A script's text with the test's time."""
    return _PRELUDE + source.replace(_IDS, "ids_from(now_us)")


def needs_time(words: list[bytes]) -> bool:
    """Whether a plain command depends on time."""
    name = words[0].upper()
    return name in _COMMANDS or (name == b"SET" and b"PX" in words[3:])


@cache
def running_ahead(source: str) -> str:
    """The text of a transfer that runs ahead."""
    return _BEFORE + source + _BEHIND


def is_transfer(source: str) -> bool:
    """Whether the script moves due items."""
    return source == load("transfer").source


@cache
def sha_of(source: str) -> str:
    """The name by which Redis knows a script."""
    return hashlib.sha1(source.encode()).hexdigest()


@cache
def by_sha() -> dict[bytes, Script]:
    """The scripts by their SHA, as the client knows them."""
    scripts = [script for name in names() for script in variants(name)]
    return {script.sha.encode(): script for script in scripts}
