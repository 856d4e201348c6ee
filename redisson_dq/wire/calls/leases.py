"""Values that are received under a lease, and dead letters."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial
from typing import Any, TypeVar

import attrs

from redisson_dq.scheduling.clock import Clock
from redisson_dq.scripts.script import load
from redisson_dq.wire.calls.base import Prepared, call, tail_of
from redisson_dq.wire.envelope import Envelope
from redisson_dq.wire.forms import newer_form, tell_newer
from redisson_dq.wire.keys import DeadKeys, QueueKeys
from redisson_dq.wire.leases import Leased, LeaseRecord, Letter
from redisson_dq.wire.request import Request, Word

__all__ = [
    "LeaseKeys",
    "ReceiveReply",
    "ack_and_receive",
    "call_with_dead",
    "dead_letters",
    "give_back",
    "in_flight",
    "progress",
    "leased_rows",
    "prepared",
    "receive",
    "return_arrivals",
]

T = TypeVar("T")

#: The result of a receive: the leases, and how many values became dead letters on the way.
ReceiveReply = tuple[list[Leased], int]
#: The script's word for each lease.
_Outcomes = list[bytes]


@attrs.frozen(kw_only=True, cache_hash=True)
class LeaseKeys:
    """The keys of a queue and of its dead-letter list. ``bounded``: a value that leaves the queue makes room in it."""

    queue: QueueKeys
    dead: DeadKeys
    bounded: bool = False

    #: The argument that the scripts get.
    word: str = attrs.field(init=False, eq=False, repr=False)

    @word.default
    def _word(self) -> str:
        return "bounded" if self.bounded else ""


@lru_cache(maxsize=4096)
def prepared(name: str, keys: LeaseKeys) -> Prepared:
    """The parts that every call of a script on a queue shares."""
    script = load(name)
    key_names = [getattr(keys.dead if key.startswith("dead") else keys.queue, key) for key in script.keys]
    dead_types = keys.dead.types
    types = {key: dead_types.get(key) or keys.queue.type_of(key) for key in key_names if key not in keys.queue.channels}
    return script, (len(key_names), *key_names), tail_of(script), types


def call_with_dead(
    name: str, keys: LeaseKeys, args: Iterable[Word], parse: Callable[[Any], T], *, repeatable: bool = False
) -> Request[T]:
    """A script that also takes the keys of the dead-letter list."""
    script, head, tail, types = prepared(name, keys)
    return Request(script=script, words=(*head, *args, *tail), types=types, parse=parse, repeatable=repeatable)


# A process that was forked off has another name.
os.register_at_fork(after_in_child=prepared.cache_clear)


def receive(
    keys: LeaseKeys,
    clock: Clock,
    envelope: Envelope,
    nonce: bytes,
    count: int,
    visible_us: int,
    limit: int,
    convert: Callable[[ReceiveReply], T],
) -> Request[T]:
    """Leases at most ``count`` values. The same request again gives the same leases, as long as they are held.

    ``nonce`` is 8 bytes, or 6 for the legacy envelope, that no other request has. ``convert`` makes the result.
    """
    args = (envelope.value, nonce, count, visible_us, limit, keys.word)
    return call_with_dead("receive", keys, args, partial(_received, keys, clock, convert), repeatable=True)


def _received(keys: LeaseKeys, clock: Clock, convert: Callable[[ReceiveReply], T], reply: list[Any]) -> T:
    now_us, buried, rows, left = reply
    return convert((leased_rows(keys.queue, now_us, clock.now_us(), rows, left), buried))


def leased_rows(keys: QueueKeys, now_us: int, read_us: int, rows: list[Any], left: int | None = None) -> list[Leased]:
    """Leases as the scripts return them: id, deadline, record and value of each. ``left`` is how many values were still
    in the list, where the script reports that.
    """
    key = keys.ready
    for text in rows[2::4]:
        # Nearly all are empty, or begin with a digit.
        if text[:1] == b"v":
            tell_newer(keys.ready, keys.deliveries, "deliveries", newer_form(text))
    return [
        Leased(key=key, id=id, deadline_ms=deadline, text=text, data=data, now_us=now_us, read_us=read_us, left=left)
        for id, deadline, text, data in zip(*[iter(rows)] * 4, strict=True)
    ]


def ack_and_receive(
    keys: LeaseKeys,
    clock: Clock,
    envelope: Envelope,
    nonce: bytes,
    count: int,
    visible_us: int,
    ids: Sequence[bytes],
    convert: Callable[[_Outcomes], T],
) -> Request[tuple[T, list[Leased]] | None]:
    """Ends leases, and leases at most ``count`` values. None: nothing was done, and two separate calls are needed.

    :func:`receive` with the same nonce gives the same leases. ``convert`` makes the
    result out of "acked" or "lost" of each.
    """

    def parse(reply: list[Any] | None) -> tuple[T, list[Leased]] | None:
        if reply is None:
            return None
        now_us, outcomes, rows, left = reply
        return convert(outcomes), leased_rows(keys.queue, now_us, clock.now_us(), rows, left)

    return call_with_dead("ack_and_receive", keys, (envelope.value, nonce, count, visible_us, *ids), parse)


def give_back(
    keys: LeaseKeys,
    envelope: Envelope,
    ids: Sequence[bytes],
    *,
    delay_us: int = 0,
    counted: bool,
    crashed: bool = False,
    reason: str = "",
    limit: int = 0,
    nonce: bytes = b"",
) -> Request[_Outcomes]:
    """ "returned", "delayed", "dead", "cancelled" or "lost" of each. With a ``nonce`` it is safe to repeat.

    A call that is sent again answers "done" for each that was given back the first time.
    """
    written = "legacy" if envelope is Envelope.LEGACY else "lean"
    how = "crashed" if crashed else "counted" if counted else ""
    args: tuple[Word, ...] = (written, delay_us, how, reason, limit, keys.word, nonce, *ids)
    return call_with_dead("give_back", keys, args, lambda reply: reply[1], repeatable=bool(nonce))


def in_flight(
    keys: QueueKeys, start: int, stop: int, *, part: bool = False
) -> Request[tuple[list[Leased], int | None]]:
    """Leases from index ``start`` to ``stop``, by their deadlines.

    With ``part`` they are some 1 MB at most. Then also gives the index of the next one, or None at the end of the page.
    """

    def parsed(reply: list[Any]) -> tuple[list[Leased], int | None]:
        now_us, rows, *following = reply
        return leased_rows(keys, now_us, 0, rows), following[0] if following else None

    return call("in_flight", keys, (start, stop, "part" if part else ""), parsed)


def progress(keys: QueueKeys, client: str, note: str) -> Request[int]:
    """Notes that a client has held values for a long time. Returns how many values wait for a receiver."""
    # Sixteen fields at most, so that notes of clients that died do not add up.
    return call("progress", keys, (f"h{client[:1]}", note), int)


def return_arrivals(keys: QueueKeys, most: int) -> Request[int]:
    """Puts back values that had come for a receiver. Returns how many."""
    return call("return_arrivals", keys, (most,), int)


def dead_letters(keys: LeaseKeys, start: int, stop: int) -> Request[list[Letter]]:
    """Dead letters from index ``start`` to ``stop``, oldest first."""
    return call_with_dead("dead_letters", keys, (start, stop), lambda reply: _letters(keys, reply))


def _letters(keys: LeaseKeys, reply: list[Any]) -> list[Letter]:
    for _, _, _, text, _ in reply:
        if text[:1] == b"v":
            tell_newer(keys.queue.ready, keys.dead.dead_info, "dead_info", newer_form(text))
    return [
        Letter(id, int(at) or None, source.decode(errors="replace"), LeaseRecord.parse(text), data)
        for id, at, source, text, data in reply
    ]
