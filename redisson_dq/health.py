"""How a client is: whether Redis answers it, and its part in moving each queue. Plain values, no I/O."""

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
    """One queue that a client has open. A partition is a queue with a name of its own."""

    name: str
    role: Role | None
    """The part of the client in moving the queue's due items: ``MOVER``, ``RESERVE``, or ``ALONE`` when no other client
    listens. It is the last one that Redis has reported. None: it does not move the queue, or does not know yet.
    """
    subscribed: bool
    """Whether the client hears when an item with an earlier due time is offered."""
    overdue: int | None = None
    """How many values are due and have not been moved. None while Redis is away."""
    late_by: timedelta | None = None
    """How long the first of them has been due. None while Redis is away."""
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
    """How a client is at one moment. Made by ``client.health()``; ``print()`` shows it."""

    client: str
    """The client's name, the third part of the names of its connections in ``CLIENT LIST``."""
    connected: bool
    """Whether Redis has answered in time, each node that one of the queues lives on."""
    round_trip: timedelta | None
    """How long the answer to one command took. None when none came."""
    clock_difference: timedelta | None
    """The server's clock minus that of this machine, give or take half a round trip. Due times follow the server's. Of
    a cluster it is that of one node. None when no answer came.
    """
    subscribed: bool | None
    """Whether the client hears the channels of all queues that it moves. None when it moves none."""
    last_error: BaseException | None
    """Why Redis could not be reached the last time, as far as the client has tried by itself. None: it always could."""
    last_error_since: datetime | None
    """When that began, by this machine's clock. It goes on unless ``connected``."""
    problems: tuple[Problem, ...]
    """The tasks that the client cannot do at present, though Redis can be reached."""
    queues: Mapping[str, QueueHealth]
    """The queues that the client has open, by their names."""

    @property
    def is_well(self) -> bool:
        """Whether Redis answers, all channels are heard, and nothing that the client does by itself fails."""
        return self.connected and self.subscribed is not False and not self.problems

    def to_dict(self) -> dict[str, Any]:
        """Everything, as JSON has it: times in ISO 8601, spans in seconds, roles and errors as texts."""
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
