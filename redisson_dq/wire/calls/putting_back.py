"""Values that go back to where they were taken from, and the room that they take or make."""

from __future__ import annotations

from collections.abc import Sequence

from redisson_dq.wire.calls.base import call
from redisson_dq.wire.commands import PUSH, End
from redisson_dq.wire.envelope import Envelope
from redisson_dq.wire.keys import LeaseKeys, QueueKeys
from redisson_dq.wire.request import Request, Word

__all__ = ["give_back", "put_back", "release", "return_arrivals"]


def release(keys: QueueKeys, nonce: bytes, known: bytes, count: int) -> Request[bool]:
    """Makes room for ``count`` values; False if the nonce has done so before. ``known`` as for :func:`put_back`."""
    return call("release", keys, (nonce, known, count), bool, repeatable=True)


def put_back(
    keys: QueueKeys, nonce: bytes, known: bytes, end: End, values: Sequence[bytes], *, bounded: bool = False
) -> Request[bool]:
    """Returns popped values to the end they came from; False if the same nonce has done so before.

    ``known`` is the nonce of an earlier call whose reply came, or empty: its note is dropped. In a ``bounded`` queue
    the values take their room again.
    """
    # The one popped last goes back first.
    args = (nonce, known, PUSH[end], "bounded" if bounded else "", *values[::-1])
    return call("put_back", keys, args, bool, repeatable=True)


def return_arrivals(keys: QueueKeys, most: int) -> Request[int]:
    """Puts back values that had come for a receiver. Returns how many."""
    return call("return_arrivals", keys, (most,), int)


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
) -> Request[list[bytes]]:
    """ "returned", "delayed", "dead", "cancelled" or "lost" of each. With a ``nonce`` it is safe to repeat.

    A call that is sent again answers "done" for each that was given back the first time.
    """
    written = "legacy" if envelope is Envelope.LEGACY else "lean"
    how = "crashed" if crashed else "counted" if counted else ""
    args: tuple[Word, ...] = (written, delay_us, how, reason, limit, keys.word, nonce, *ids)
    return call("give_back", keys, args, lambda reply: reply[1], repeatable=bool(nonce))
