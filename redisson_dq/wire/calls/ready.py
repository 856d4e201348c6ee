"""The ready list, and the bounded queue with its capacity."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import attrs

from redisson_dq.wire.calls.base import call, call_to
from redisson_dq.wire.commands import PUSH, SIDES, End
from redisson_dq.wire.keys import QueueKeys
from redisson_dq.wire.request import Request, Word

__all__ = [
    "contains_ready",
    "move_bounded",
    "offer_bounded",
    "put_back",
    "put_back_bounded",
    "release",
    "remove_ready",
    "set_capacity",
    "take_bounded",
]

T = TypeVar("T")


def contains_ready(keys: QueueKeys, values: Sequence[bytes]) -> Request[bool]:
    """Whether each of the values is ready."""
    return call("contains_ready", keys, values, bool)


def remove_ready(keys: QueueKeys, which: str, remember_ms: int, args: Sequence[Word] = ()) -> Request[int]:
    """Takes away "all" or the "others" of values, "some" of one, to "trim", "clear", "delete" or "unlink".

    Gives how many ready values were taken out. Of "clear" and these two it gives how many keys were there.
    """
    return call("remove_ready", keys, (which, remember_ms, *args), int)


def set_capacity(keys: QueueKeys, capacity: int) -> Request[bool]:
    """Whether it was set now; it was set before otherwise."""
    return call("set_capacity", keys, (capacity,), bool)


def offer_bounded(keys: QueueKeys, values: Sequence[bytes]) -> Request[int]:
    """1 if the values are in, 0 if there was no room, -1 if the capacity was never set."""
    return call("offer_bounded", keys, values, int)


def take_bounded(
    keys: QueueKeys, how: str, remember_ms: int, args: Sequence[Word], parse: Callable[[Any], T]
) -> Request[T]:
    """``how`` is "poll", "remove", "retain", "trim" or "clear"; gives the values that were polled, else a number."""
    return call("take_bounded", keys, (how, remember_ms, *args), parse)


def move_bounded(keys: QueueKeys, destination: str, from_end: End, to_end: End) -> Request[bytes | None]:
    """The value that was moved."""
    return call_to("move_bounded", keys, destination, (SIDES[from_end], SIDES[to_end]), _as_is)


def release(keys: QueueKeys, nonce: bytes, known: bytes, count: int) -> Request[bool]:
    """Makes room for so many values; False if the same nonce has done so before. ``known`` as for :func:`put_back`."""
    return attrs.evolve(call("release", keys, (nonce, known, count), bool), repeatable=True)


def put_back(keys: QueueKeys, nonce: bytes, known: bytes, end: End, values: Sequence[bytes]) -> Request[bool]:
    """Returns popped values to the end they came from; False if the same nonce has done so before.

    ``known`` is the nonce of an earlier call whose reply came, or empty: its note is dropped.
    """
    return _put_back("put_back", keys, nonce, known, end, values)


def put_back_bounded(keys: QueueKeys, nonce: bytes, known: bytes, end: End, values: Sequence[bytes]) -> Request[bool]:
    """Puts values back into a bounded queue, where they take their room again."""
    return _put_back("put_back_bounded", keys, nonce, known, end, values)


def _put_back(
    name: str, keys: QueueKeys, nonce: bytes, known: bytes, end: End, values: Sequence[bytes]
) -> Request[bool]:
    # The one popped last goes back first.
    request = call(name, keys, (nonce, known, PUSH[end], *values[::-1]), bool)
    return attrs.evolve(request, repeatable=True)


def _as_is(reply: Any) -> Any:
    return reply
