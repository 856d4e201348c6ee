"""The health of a client: whether Redis answers it, and its part in moving each queue. Plain values, no I/O."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

import attrs

from redisson_dq._common.texts import described
from redisson_dq.items import Problem
from redisson_dq.scheduling.engine import Role
from redisson_dq.stats import at, plain

__all__ = ["ClientHealth", "QueueHealth"]


@attrs.frozen(kw_only=True)
class QueueHealth:
    """One queue that a client has open. A partition counts as a queue with its own name."""

    name: str
    role: Role | None
    """The part of the client in moving the queue's due items: ``MOVER``, ``RESERVE``, or ``ALONE`` when no other client
    listens. This is the part that Redis reported last. None if the client does not move the queue, or does not know
    yet.
    """
    subscribed: bool
    """Whether the client hears when an item with an earlier due time is offered."""
    overdue: int | None = None
    """How many values are due and have not been moved. None while Redis is away."""
    late_by: timedelta | None = None
    """How long the first due value has been due. None while Redis is away."""
    is_paused: bool | None = None
    """Whether delivery is paused. None while Redis is away."""

    @property
    def is_moving(self) -> bool:
        """Whether this client is the one that moves the queue's due items."""
        return self.role in (Role.ALONE, Role.MOVER)

    def __str__(self) -> str:
        role = "not moving" if self.role is None else self.role.value
        late = "" if not self.overdue else f", {self.overdue} overdue by {self.late_by}"
        return f"{self.name}: {role}{late}{', paused' if self.is_paused else ''}"


@attrs.frozen(kw_only=True)
class ClientHealth:
    """The health of a client at one moment. Made by ``client.health()``; ``print()`` shows it."""

    client: str
    """The client's name, the third part of the names of its connections in ``CLIENT LIST``."""
    connected: bool
    """Whether Redis has answered in time; on a cluster, every node that has one of the queues."""
    round_trip: timedelta | None
    """How long the reply to one command took. None if none came."""
    clock_difference: timedelta | None
    """The server's clock minus this machine's clock, accurate to half a round trip. Due times follow the server's
    clock. On a cluster, the clock of one node is compared. None if no reply came.
    """
    subscribed: bool | None
    """Whether the client hears the channels of all queues that it moves. None if it moves no queue."""
    last_error: BaseException | None
    """Why the client's background tasks could not reach Redis the last time. None if they always could."""
    last_error_since: datetime | None
    """When this outage began, by this machine's clock. It lasts until ``connected`` is true."""
    problems: tuple[Problem, ...]
    """The tasks that the client cannot do at present, though Redis can be reached."""
    queues: Mapping[str, QueueHealth]
    """The queues that the client has open, by name."""

    @property
    def is_well(self) -> bool:
        """Whether Redis answers, all channels are heard, and no background task of the client fails."""
        return self.connected and self.subscribed is not False and not self.problems

    def to_dict(self) -> dict[str, Any]:
        """All fields as JSON values: times in ISO 8601, durations in seconds, roles and errors as strings."""
        return {
            **attrs.asdict(self, recurse=False, value_serializer=lambda _, __, value: plain(value)),
            "is_well": self.is_well,
            "last_error": None if self.last_error is None else described(self.last_error),
            "problems": [str(problem) for problem in self.problems],
            "queues": {
                name: attrs.asdict(queue, value_serializer=lambda _, __, value: plain(value))
                for name, queue in self.queues.items()
            },
        }

    def __str__(self) -> str:
        return "\n  ".join((f"client {self.client}", *self._lines()))

    def _lines(self) -> Iterable[str]:
        if self.connected:
            yield "connected      yes" + ("" if self.round_trip is None else f", a round trip takes {self.round_trip}")
        else:
            yield f"connected      no{at(', since {}', self.last_error_since)}"
        if self.subscribed is not None:
            yield f"subscribed     {'yes' if self.subscribed else 'no'}"
        if self.clock_difference is not None:
            yield f"clock          the server's is ahead by {self.clock_difference.total_seconds():.6f} s"
        if self.last_error is not None:
            yield f"last error     {described(self.last_error)}{at(', since {}', self.last_error_since)}"
        yield from (f"problem        {problem}" for problem in self.problems)
        yield from (f"queue          {queue}" for queue in self.queues.values())
