"""The confirmations that a change needs before its call returns."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import attrs

from redisson_dq._common.texts import shown
from redisson_dq.errors import ArgumentError

__all__ = ["Confirmed", "Durability", "strongest"]

# Shorter than the time that a connection waits for a reply.
_LONGEST = 5.0


@attrs.frozen(kw_only=True)
class Confirmed:
    """The confirmations of a change: how many replicas have it, and whether the server itself has written it to its
    disk.

    ``fsynced`` is None if that was not asked for. With ``fsync=True``, ``replicas`` counts those that have the change
    on their disks.
    """

    replicas: int
    fsynced: bool | None


@attrs.frozen
class Durability:
    """The confirmations that a call waits for: a number of replicas, and the server's append-only file
    (``fsync=True``).

    The call waits for ``timeout`` seconds, at most 5. It raises DurabilityError if the confirmations are not complete
    by then. In both cases ``on_confirmed`` is called with the confirmations. It is a plain function, and must not
    block.
    """

    replicas: int = 0
    fsync: bool = False
    timeout: float = 1.0
    on_confirmed: Callable[[Confirmed], object] | None = attrs.field(default=None, repr=False)

    def __attrs_post_init__(self) -> None:
        if type(self.replicas) is not int or self.replicas < 0:
            raise ArgumentError(f"durable=: replicas= must be a number of replicas, not {shown(self.replicas)}")
        if type(self.fsync) is not bool:
            raise ArgumentError(f"durable=: fsync= must be True or False, not {shown(self.fsync)}")
        if not self.replicas and not self.fsync:
            raise ArgumentError("durable=: replicas=1 or fsync=True says what to wait for")
        if isinstance(self.timeout, bool) or not isinstance(self.timeout, (int, float)):
            raise ArgumentError(f"durable=: timeout= must be a number of seconds, not {shown(self.timeout)}")
        if not 0.001 <= self.timeout <= _LONGEST:
            raise ArgumentError(
                f"durable=: timeout= is a number of seconds up to {_LONGEST:g}, not {shown(self.timeout)}"
            )
        if self.on_confirmed is not None and not callable(self.on_confirmed):
            raise ArgumentError(f"durable=: on_confirmed= must be a function, not {shown(self.on_confirmed)}")

    @property
    def words(self) -> tuple[Any, ...]:
        """The command that waits for the confirmation. It is sent on the connection that made the change."""
        timeout_ms = round(self.timeout * 1000)
        if self.fsync:
            return "WAITAOF", 1, self.replicas, timeout_ms
        return "WAIT", self.replicas, timeout_ms

    def confirmed(self, reply: Any) -> Confirmed:
        """Reads the reply to that command."""
        if self.fsync:
            return Confirmed(replicas=reply[1], fsynced=bool(reply[0]))
        return Confirmed(replicas=reply, fsynced=None)

    def is_met_by(self, confirmed: Confirmed) -> bool:
        """Whether ``confirmed`` is as much as was asked for."""
        return confirmed.replicas >= self.replicas and (confirmed.fsynced is True or not self.fsync)


def strongest(asked: Iterable[Durability | None]) -> Durability | None:
    """The weakest durability that satisfies each of them. None if none of them asks for anything."""
    each = [one for one in asked if one is not None]
    if not each:
        return None
    return Durability(
        max(one.replicas for one in each), any(one.fsync for one in each), max(one.timeout for one in each)
    )
