"""One queue as it is mended: its parts, their keys, and requests that are sent again when a reply is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import attrs

from redisson_dq._sync.client import Client
from redisson_dq.errors import RedisConnectionError
from redisson_dq.wire import commands
from redisson_dq.wire.calls import LeaseKeys
from redisson_dq.wire.keys import DeadKeys, QueueKeys, map_name
from redisson_dq.wire.partitions import partition_names
from redisson_dq.wire.request import Request

__all__ = ["MendedQueue", "QueuePart"]

T = TypeVar("T")

# A request whose reply was lost is sent again after so many seconds.
_PAUSES = (0.1, 0.3, 1.0, 3.0)


@attrs.frozen(kw_only=True)
class QueuePart:
    """A queue without partitions, or one partition: its name and its keys."""

    name: str
    keys: LeaseKeys


class MendedQueue:
    """A queue by its name. Its partitions are one queue.

    ``dead_letter`` names the queue that gets its dead letters, if it has no list of its own. ``away`` is called with
    the reason while Redis is away, and with an empty text when it answers again.
    """

    def __init__(
        self,
        client: Client,
        name: str,
        *,
        partitions: int | None = None,
        dead_letter: str | None = None,
        away: Callable[[str], None] = lambda reason: None,
    ) -> None:
        self.client = client
        self.name = name
        self.partitions = partitions
        self.dead_letter = dead_letter
        self._away, self._is_away = away, False
        options = client.runtime.options
        self.remember_ms = options.remember_ms
        names = [name] if partitions is None else partition_names(name, partitions, options.name_mapper)
        self.parts = tuple(self._part(each, dead_letter) for each in names)

    def _part(self, name: str, dead_letter: str | None) -> QueuePart:
        mapper = self.client.runtime.options.name_mapper
        raw = map_name(name, mapper)
        dead = DeadKeys.belonging_to(raw) if dead_letter is None else DeadKeys.of(map_name(dead_letter, mapper))
        return QueuePart(name=name, keys=LeaseKeys(queue=QueueKeys.of(raw), dead=dead))

    @property
    def where(self) -> str:
        """The server, without a password."""
        return str(self.client.runtime.connections.where)

    def part(self, name: str) -> QueuePart | None:
        """The part with this name."""
        return next((each for each in self.parts if each.name == name), None)

    def now_ms(self) -> int:
        """The server's time."""
        return self.run(commands.server_time_us(self.parts[0].keys.queue.timeout)) // 1000

    def run(self, request: Request[T]) -> T:
        """Sends a request that may safely be repeated, again and again for some seconds if its reply is lost.

        Raises RedisConnectionError, WrongTypeError, RedisReplyError, ClosedError.
        """
        connections = self.client.runtime.connections
        for pause in self._pauses():
            try:
                found = connections.run(request)
            except RedisConnectionError as error:
                self._is_away = True
                self._away(str(error))
                connections.clock.sleep(pause)
            else:
                if self._is_away:
                    self._is_away = False
                    self._away("")
                return found
        return connections.run(request)

    def _pauses(self) -> Iterator[float]:
        yield from _PAUSES
