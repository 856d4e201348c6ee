"""Java's side of a queue without Java, for contracts between teams: the entries and the reading of a Redisson.

The scripts are those that Redisson itself sends. So packing, ordering and publishing are the same as for Java::

    java.offered_by("4.3", client.delayed_queue("orders"), "order-42", timedelta(minutes=30))
    clock.advance(minutes=30)
    assert client.blocking_queue("orders").poll() == "order-42"
"""

from __future__ import annotations

import math
import re
import secrets
from typing import Any

from redisson_dq._async.queues.delayed import DelayedQueue as AsyncDelayedQueue
from redisson_dq._sync.queues.delayed import DelayedQueue
from redisson_dq.codecs.base import Codec
from redisson_dq.errors import ArgumentError, EnvelopeError
from redisson_dq.scheduling.times import Delay, seconds_of
from redisson_dq.wire.envelope import Envelope
from redisson_dq.wire.request import Request, Word

__all__ = ["offered_by", "reads"]

#: The first Redisson of the current format.
_CURRENT_FROM = (3, 21, 1)

_PACKED = {
    Envelope.CURRENT: "struct.pack('Bc0Lc0', string.len(ARGV[2]), ARGV[2], string.len(ARGV[3]), ARGV[3])",
    Envelope.LEGACY: "struct.pack('dLc0', tonumber(ARGV[2]), string.len(ARGV[3]), ARGV[3])",
}
_OFFER = """\
local value = {packed};
redis.call('zadd', KEYS[2], ARGV[1], value);
redis.call('rpush', KEYS[3], value);
local v = redis.call('zrange', KEYS[2], 0, 0);
if v[1] == value then
  redis.call('publish', KEYS[4], ARGV[1]);
end;
"""

_UNPACKED = {Envelope.CURRENT: "'Bc0Lc0'", Envelope.LEGACY: "'dLc0'"}
_READ_ALL = """\
local result = {{}};
local items = redis.call('lrange', KEYS[1], 0, -1);
for i, v in ipairs(items) do
  -- Redisson's script ends with struct's error here. The entry tells more.
  local isRead, randomId, value = pcall(struct.unpack, {unpacked}, v);
  if not isRead then
    return {{'unread', v}};
  end;
  table.insert(result, value);
end;
table.insert(result, 1, 'read');
return result;
"""


def offered_by(version: str, delayed: Any, value: Any, delay: Delay = 0, *, codec: Codec | None = None) -> Any:
    """Offers a value as that Redisson would: its envelope, a random id, its due time, its message.

    - ``version``: of Redisson, such as ``"4.3"`` or ``"3.20"``; up to 3.21.0 it writes the legacy envelope
    - ``delayed``: a handle of the delayed queue; with one on asyncio the call is awaited
    - ``delay``: seconds or a timedelta; a part of a millisecond is dropped, as by ``TimeUnit.toMillis``
    - ``codec``: Java's codec, that of the handle by default

    The due time comes from the client's clock, as Redisson's comes from its JVM, or from a test clock.
    From this call on the handle's client moves the queue's due items in Redisson's place, unless it has transfer=False.

    For example::

        java.offered_by("3.20", delayed, "order-42", timedelta(minutes=30))

    Raises ArgumentError, EncodeError.
    """
    envelope = _envelope_of(version)
    if not _is_delayed(delayed):
        raise ArgumentError(
            f"offered_by() needs a handle of a delayed queue, which may be a partition, not {delayed!r}"
        )
    keys = delayed.keys
    seconds = seconds_of(delay, f"queue {delayed.name!r}: a delay")
    # Anything below a nanosecond is float noise.
    due = delayed._runtime.clock.calendar_us() // 1000 + math.floor(seconds * 1000 + 1e-6)
    # In the legacy envelope, a random Java long becomes a double.
    id: Word = secrets.token_bytes(8) if envelope is Envelope.CURRENT else str(secrets.randbits(64) - 2**63)
    script = _OFFER.format(packed=_PACKED[envelope])
    types = {keys.ready: "list", keys.timeout: "zset", keys.envelopes: "list"}
    on = (keys.ready, keys.timeout, keys.envelopes, keys.channel)
    words = ("EVAL", script, len(on), *on, str(due), id, (codec or delayed.codec).encode(value))
    # A Redisson that has the queue open moves its due items, unless the handle has transfer=False.
    delayed._begin_taking()
    return delayed._runtime.connections.run(Request(words=words, types=types, parse=lambda _: None))


def reads(queue: Any, *, version: str = "4.3", codec: Codec | None = None) -> Any:
    """The values that ``readAll()`` of that Redisson returns, in its order. Nothing is taken.

    - ``queue``: a handle. Of a blocking queue the values that are ready, of a delayed queue those that wait.
      With one on asyncio the call is awaited
    - ``version``: of Redisson. It reads only the envelope of its own version, and no lean items
    - ``codec``: Java's codec, that of the handle by default

    For example::

        assert java.reads(client.delayed_queue("orders")) == ["order-42"]

    Raises EnvelopeError where a waiting entry is in an envelope that this Redisson cannot read; DecodeError.
    """
    envelope = _envelope_of(version)
    if not hasattr(queue, "keys"):
        raise ArgumentError(f"reads() needs a handle of one queue, which may be a partition, not {queue!r}")
    decode = (codec or queue.codec).decode

    def decoded(found: list[bytes]) -> list[Any]:
        return [decode(each) for each in found]

    def parse(reply: list[bytes]) -> list[Any]:
        if reply[0] == b"unread":
            raise EnvelopeError(
                f"queue {queue.name!r}: Redisson {version} cannot read an entry that waits, in another envelope; "
                "connect with the envelope= of the Redisson that reads it",
                member=reply[1],
            )
        return decoded(reply[1:])

    if not _is_delayed(queue):
        ready = queue.keys.ready
        request = Request(words=("LRANGE", ready, 0, -1), types={ready: "list"}, parse=decoded)
    else:
        waiting = queue.keys.envelopes
        script = _READ_ALL.format(unpacked=_UNPACKED[envelope])
        request = Request(words=("EVAL", script, 1, waiting), types={waiting: "list"}, parse=parse)
    return queue._runtime.connections.run(request)


def _is_delayed(queue: Any) -> bool:
    return isinstance(queue, (DelayedQueue, AsyncDelayedQueue))


def _envelope_of(version: str) -> Envelope:
    if not isinstance(version, str) or not re.fullmatch(r"\d+\.\d+(\.\d+)?", version):
        raise ArgumentError(f'a version of Redisson is such as "4.3" or "3.20.1", not {version!r}')
    major, minor, *patch = map(int, version.split("."))
    is_current = (major, minor, *(patch or [0])) >= _CURRENT_FROM
    return Envelope.CURRENT if is_current else Envelope.LEGACY
