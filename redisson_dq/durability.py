"""How far a change has to have got before a call returns."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import attrs

from redisson_dq.errors import ArgumentError

__all__ = ["Confirmed", "Durability", "strongest"]

# Shorter than what a connection waits for a reply.
_LONGEST = 5.0


@attrs.frozen(kw_only=True)
class Confirmed:
    """How far a change has got: how many replicas have it, and whether the server itself has written it to its disk.

    ``fsynced`` is None where that was not asked for. With ``fsync=True`` the replicas have it on their disks as well.
    """

    replicas: int
    fsynced: bool | None


@attrs.frozen
class Durability:
    """What a call waits for after its change: so many replicas, and the server's append-only file (``fsync=True``).

    It waits for ``timeout`` seconds, at most 5, and raises DurabilityError when fewer have confirmed by then. What was
    confirmed is told to ``on_confirmed``, a plain function, which must not block.
    """

    replicas: int = 0
    fsync: bool = False
    timeout: float = 1.0
    on_confirmed: Callable[[Confirmed], object] | None = attrs.field(default=None, repr=False)

    def __attrs_post_init__(self) -> None:
        if type(self.replicas) is not int or self.replicas < 0:
            raise ArgumentError(f"durable=: replicas= is a number of replicas, not {self.replicas!r}")
        if type(self.fsync) is not bool:
            raise ArgumentError(f"durable=: fsync= is True or False, not {self.fsync!r}")
        if not self.replicas and not self.fsync:
            raise ArgumentError("durable=: replicas=1 or fsync=True says what to wait for")
        if isinstance(self.timeout, bool) or not isinstance(self.timeout, (int, float)):
            raise ArgumentError(f"durable=: timeout= is a number of seconds, not {self.timeout!r}")
        if not 0.001 <= self.timeout <= _LONGEST:
            raise ArgumentError(f"durable=: timeout= is a number of seconds up to {_LONGEST:g}, not {self.timeout!r}")
        if self.on_confirmed is not None and not callable(self.on_confirmed):
            raise ArgumentError(f"durable=: on_confirmed= is a function, not {self.on_confirmed!r}")

    @property
    def words(self) -> tuple[Any, ...]:
        """The command that waits on the connection that made the change."""
        timeout_ms = round(self.timeout * 1000)
        if self.fsync:
            return "WAITAOF", 1, self.replicas, timeout_ms
        return "WAIT", self.replicas, timeout_ms

    def confirmed(self, reply: Any) -> Confirmed:
        """Reads that command's reply."""
        if self.fsync:
            return Confirmed(replicas=reply[1], fsynced=bool(reply[0]))
        return Confirmed(replicas=reply, fsynced=None)

    def is_met_by(self, confirmed: Confirmed) -> bool:
        """Whether that is as much as was asked for."""
        return confirmed.replicas >= self.replicas and (confirmed.fsynced is True or not self.fsync)


def strongest(asked: Iterable[Durability | None]) -> Durability | None:
    """What is enough for each of them; None where none asks for anything."""
    each = [one for one in asked if one is not None]
    if not each:
        return None
    return Durability(
        max(one.replicas for one in each), any(one.fsync for one in each), max(one.timeout for one in each)
    )
