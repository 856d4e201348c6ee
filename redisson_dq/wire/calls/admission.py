"""The arguments and replies of ``admit.lua`` and ``peek.lua``: values whose turn it is, and limits."""

from __future__ import annotations

from collections.abc import Iterable

import attrs

from redisson_dq.wire.leases import Leased
from redisson_dq.wire.request import Word

__all__ = ["Admitted", "LimitWords", "Peeked", "Seen", "limit_words"]


@attrs.frozen(kw_only=True)
class LimitWords:
    """A limit over all processes: this many slots, and this many tokens in this many us. 0: any number.

    ``id`` and ``rate`` have 16 bytes, and name slots and tokens. Queues that give one home share them, and
    without a home they are the queue's own (``shared_limit.lua``). ``size`` is how many tokens its bucket holds. ``by``
    is for limits by key and turns (``by_key.lua``): what they are called, their names in the context, and the key that
    takes turns.
    """

    id: bytes
    home: str = ""
    slots: int = 0
    rate: bytes = attrs.field(default=attrs.Factory(lambda self: self.id, takes_self=True))
    rate_home: str = ""
    tokens: int = 0
    per_us: int = 1
    size: int = 0
    by: bytes = b""


@attrs.frozen(kw_only=True)
class Seen:
    """A value that was seen in the ready list: the digest of its bytes, and the key and limits that admit it.

    ``key`` and ``unique`` have 16 bytes, or none. ``limit`` is the place of its limit in the call, from 1 on, or 0.
    """

    digest: str
    key: bytes = b""
    limit: int = 0
    unique: bytes = b""
    unique_us: int = 0


@attrs.frozen
class Admitted:
    """The result of ``admit.lua``. ``dropped`` are the bytes of duplicates, ``parked`` counts values that wait.

    ``called_up`` counts values that waited for slots, and are ready again. ``now_us`` is the server's time.
    ``next_slot_ms`` is as with :class:`Peeked`.
    """

    now_us: int
    buried: int
    leased: list[Leased]
    dropped: list[bytes]
    parked: int
    called_up: int
    next_slot_ms: int


@attrs.frozen
class Peeked:
    """The result of ``peek.lua``. ``called_up`` counts values that waited for slots, and are ready again.

    ``next_slot_ms`` says when the first slot ends that values wait for. 0: they wait, and no slot is taken. -1: no
    value waits for a slot. -2: that was not looked at, as other values are ready.
    """

    called_up: int
    values: list[bytes]
    next_slot_ms: int


def limit_words(limits: Iterable[LimitWords]) -> Iterable[Word]:
    """The limits as arguments of the scripts."""
    for limit in limits:
        yield from (limit.id, limit.home, limit.slots)
        yield from (limit.rate, limit.rate_home, limit.tokens, limit.per_us, limit.size, limit.by)
