"""The queues of a client's servers, for tools that look at them and repair them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

import attrs

from redisson_dq._sync.connecting.asking import answers, outcomes
from redisson_dq.admin.queues import AdminQueue
from redisson_dq.admin.servers import AdminServers, Node
from redisson_dq.calls.inspecting import inspection
from redisson_dq.errors import RedissonDQError
from redisson_dq.inspection import QueueInspection
from redisson_dq.wire import calls, commands
from redisson_dq.wire.calls import DueSpans, Sampled
from redisson_dq.wire.keys import DeadKeys, QueueKeys, map_name
from redisson_dq.wire.names import CHANNELS, KEYS, names_of, unmapping
from redisson_dq.wire.partitions import partition_names, whole_of
from redisson_dq.wire.request import Request

__all__ = ["Admin", "RawQueues"]


@attrs.frozen
class RawQueues:
    """Some of the queues of a node, by their names in Redis. ``cursor`` is 0 at the end of its keys."""

    cursor: int
    names: frozenset[str]
    keys: tuple[bytes, ...]


class Admin(AdminServers):
    """The servers and the queues of a client, for tools that look at them and repair them.

    It adds no connection to those of the client. An operation is one round trip unless it says otherwise. All raise
    RedisConnectionError, RedisReplyError, WrongTypeError and ClosedError. Names are those before the client's name
    mapper; ``raw`` names are those in Redis::

        admin = Admin(client)
        for part in admin.parts("orders", partitions=4):
            print(part.name, part.leases(0, 9))

    ``pauses`` and ``away`` are as in :class:`AdminServers`.
    """

    # -- names -------------------------------------------------------------------------------------------------------

    def raw(self, name: str) -> str:
        """The name of a queue in Redis."""
        return map_name(name, self.name_mapper)

    def name(self, raw: str) -> str | None:
        """The name of a queue, given its name in Redis. None if the client's mapper makes no such name."""
        return self._unmap(raw)

    @cached_property
    def _unmap(self) -> Callable[[str], str | None]:
        return unmapping(self.name_mapper)

    def whole(self, name: str) -> tuple[str, int] | None:
        """The queue and the partition number that the name of a partition stands for."""
        return whole_of(name, self.name_mapper)

    def heard(self, node: Node) -> set[str]:
        """The raw names of the queues that any client has open through a node."""
        found: list[bytes] = self.run(commands.channels(CHANNELS), node)
        return set(names_of(found))

    def scan(self, cursor: int, node: Node, count: int = 1000) -> RawQueues:
        """The raw names of queues among about ``count`` keys of a node, from a cursor on. 0 starts a scan."""
        following, keys = self.run(commands.scan(cursor, KEYS, count), node)
        return RawQueues(following, frozenset(names_of(keys)), tuple(keys))

    # -- queues ------------------------------------------------------------------------------------------------------

    def queue(self, name: str, dead_letter: str | None = None) -> AdminQueue:
        """One queue, or one partition by its name. ``dead_letter`` names the queue that gets its dead letters."""
        raw = self.raw(name)
        dead = DeadKeys.belonging_to(raw) if dead_letter is None else DeadKeys.of(self.raw(dead_letter))
        return AdminQueue(self, name, raw, QueueKeys.of(raw), dead)

    def queue_of_raw(self, raw: str, *, is_letters: bool = False) -> AdminQueue:
        """One queue by its name in Redis. ``is_letters``: its ready list has the dead letters of others."""
        try:
            name = self.name(raw) or raw
        except RedissonDQError:
            name = raw
        dead = DeadKeys.of(raw) if is_letters else DeadKeys.belonging_to(raw)
        return AdminQueue(self, name, raw, QueueKeys.of(raw), dead)

    def parts(self, name: str, partitions: int | None = None, dead_letter: str | None = None) -> list[AdminQueue]:
        """The partitions of a queue, or the queue itself if it has none."""
        names = [name] if partitions is None else partition_names(name, partitions, self.name_mapper)
        return [self.queue(each, dead_letter) for each in names]

    def exist(self, names: Iterable[str]) -> list[bool]:
        """For each name, whether any key of its queue exists. One round trip for all."""
        requests: list[Request[Any]] = []
        for queue in map(self.queue, names):
            own = [key for key in attrs.asdict(queue.keys).values() if key not in queue.keys.channels]
            requests.append(commands.count_keys([*own, queue.dead.dead]))
        return [bool(each) for each in self.run_together(requests)]

    def look(
        self, queues: Sequence[AdminQueue], entries: int, shown: int
    ) -> list[tuple[QueueInspection, Sampled] | RedissonDQError]:
        """All figures of queues with a sample of their entries, or the error of each. One round trip for all.

        ``entries`` of each key are examined, and the first bytes of ``shown`` values are included.
        """
        requests: list[Request[Any]] = []
        for each in queues:
            requests += [inspection(each.name, each.lease_keys), calls.sample(each.keys, entries, shown)]
        found = outcomes(self._connections, requests) if requests else []
        return [
            next((each for each in pair if isinstance(each, RedissonDQError)), pair)
            for pair in zip(found[::2], found[1::2], strict=True)
        ]

    def due_spans(self, queues: Sequence[AdminQueue], edges: Sequence[int], shown: int, head: int) -> list[DueSpans]:
        """How many items of each queue are due between each two of the times ``edges`` in ms. One round trip."""
        return answers(
            self._connections,
            [calls.due_spans(each.keys, edges, shown=shown, head=head, turn=i) for i, each in enumerate(queues)],
        )
