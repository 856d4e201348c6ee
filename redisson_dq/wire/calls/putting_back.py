"""Values that go back to where they were taken from, and the room that they take or make."""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from redisson_dq.wire.calls.base import call
from redisson_dq.wire.commands import PUSH, End
from redisson_dq.wire.keys import QueueKeys
from redisson_dq.wire.request import Request

__all__ = ["put_back", "release"]


def release(keys: QueueKeys, nonce: bytes, known: bytes, count: int) -> Request[bool]:
    """Makes room for ``count`` values; False if the nonce has done so before. ``known`` as for :func:`put_back`."""
    return attrs.evolve(call("release", keys, (nonce, known, count), bool), repeatable=True)


def put_back(
    keys: QueueKeys, nonce: bytes, known: bytes, end: End, values: Sequence[bytes], *, bounded: bool = False
) -> Request[bool]:
    """Returns popped values to the end they came from; False if the same nonce has done so before.

    ``known`` is the nonce of an earlier call whose reply came, or empty: its note is dropped. In a ``bounded`` queue
    the values take their room again.
    """
    # The one popped last goes back first.
    args = (nonce, known, PUSH[end], "bounded" if bounded else "", *values[::-1])
    return attrs.evolve(call("put_back", keys, args, bool), repeatable=True)
