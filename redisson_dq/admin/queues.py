"""One queue, or one partition: the operations on its items, page by page and batch by batch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import attrs
from redis import ConnectionPool

from redisson_dq.admin.servers import AdminServers, KeyCommand
from redisson_dq.calls.delayed import DelayedRequests
from redisson_dq.calls.items import Page, Target, find_item
from redisson_dq.calls.leases import dead_letters, in_flight
from redisson_dq.calls.open_queue import DELAYED, OpenQueue
from redisson_dq.durability import Durability
from redisson_dq.errors import RedissonDQError
from redisson_dq.items import RecurringOffer, entry_id
from redisson_dq.wire import calls, commands
from redisson_dq.wire.calls import DoneMark, ExchangeStep, FoundPage, Sampled
from redisson_dq.wire.calls.browsing import Timeline
from redisson_dq.wire.calls.mending import (
    Aside,
    AsideAction,
    AsideKind,
    FoundAnywhere,
    Mended,
    Met,
    MetPart,
    WaitingAction,
)
from redisson_dq.wire.keys import DeadKeys, LeaseKeys, QueueKeys
from redisson_dq.wire.leases import Leased, Letter
from redisson_dq.wire.request import Request

__all__ = ["AdminQueue"]

T = TypeVar("T")


@attrs.frozen(eq=False)
class AdminQueue:
    """One queue, or one partition. ``name`` is its name before the name mapper, ``raw`` its name in Redis.

    ``keys`` and ``dead`` are the names of its keys. :meth:`Admin.queue` makes one. Operations are one round trip each.
    """

    servers: AdminServers = attrs.field(repr=False)
    name: str
    raw: str
    keys: QueueKeys = attrs.field(repr=False)
    dead: DeadKeys = attrs.field(repr=False)

    @property
    def lease_keys(self) -> LeaseKeys:
        """The keys that calls on leases and dead letters need."""
        return LeaseKeys(queue=self.keys, dead=self.dead)

    # -- looking: pages ----------------------------------------------------------------------------------------------

    def waiting(self, behind: tuple[bytes, bytes] | None, most: int, head: int) -> FoundPage:
        """Waiting items by due time, after a score and an entry, with ``head`` bytes of each value."""
        return self._run(calls.browse_waiting(self.keys, behind, most, head))

    def parked(self, behind: tuple[bytes, bytes] | None, most: int, head: int) -> FoundPage:
        """Values that limits by key have parked, the longest parked first."""
        return self._run(calls.browse_parked(self.keys, behind, most, head))

    def held(self, behind: tuple[bytes, bytes] | None, most: int, head: int) -> FoundPage:
        """Values under a lease, by deadline."""
        return self._run(calls.browse_held(self.keys, behind, most, head))

    def letters(self, first: int, most: int, head: int) -> FoundPage:
        """Dead letters with their records, oldest first."""
        return self._run(calls.browse_dead(self.lease_keys, first, most, head))

    def listed(self, key: str, first: int, most: int, head: int) -> FoundPage:
        """The elements of one of its lists: ready, quarantined, undecodable or expired values."""
        return self._run(calls.browse_list(key, first, most, head))

    def elements(self, key: str, first: int, last: int) -> list[bytes]:
        """The whole elements of one of its lists."""
        return self._run(commands.slice_of(key, first, last))

    def recurring(self, first: int, last: int) -> list[RecurringOffer]:
        """Its recurring offers, by the time of their next item."""
        side = OpenQueue[Any](self.name, None, self.servers.client.runtime.options, DELAYED)
        return self._run(DelayedRequests(side).recurring(first, last))

    def leases(self, first: int, last: int) -> tuple[list[Leased], int | None]:
        """Values under a lease with their records, and where the next page begins if this one was cut short."""
        return self._run(in_flight(self.keys, first, last, part=True))

    def dead_letters(self, first: int, last: int) -> list[Letter]:
        """Dead letters with the queues from which they came."""
        return self._run(dead_letters(self.lease_keys, first, last))

    def walk(self, cursor: bytes) -> MetPart:
        """A few hundred waiting items in the order of their offers, from a cursor on; an empty one starts."""
        return self._run(calls.mend_walk(self.keys, cursor))

    def records_of_letters(self, digests: Sequence[tuple[str, int]]) -> list[tuple[bytes, bytes]]:
        """The ids and records of dead letters, by the digest of each value and its place among equal values."""
        return self._run(calls.mend_letters(self.lease_keys, digests))

    # -- looking: one item -------------------------------------------------------------------------------------------

    def find(self, id: str | bytes, head: int, due_ms: int | None = None) -> Page:
        """The item with the id of an offer, or with the id of an entry and its due time. A page of one or none."""
        return self._run(find_item(self.lease_keys, _target(id, due_ms), head))

    def locate(self, id: str) -> FoundAnywhere:
        """The place of an item, and the data that an action on it needs."""
        return self._run(calls.mend_find(self.lease_keys, _target(id).words(), self.servers.remember_ms))

    def deadline_of(self, lease: bytes) -> int | None:
        """The deadline of a lease in epoch ms."""
        return self._run(commands.score_of(self.keys.leases, lease))

    def has_letter(self, id: bytes) -> bool:
        """Whether a dead letter has this id."""
        return self._run(commands.has_field(self.dead.dead_info, id))

    # -- looking: figures --------------------------------------------------------------------------------------------

    def sample(self, entries: int, shown: int) -> Sampled:
        """A sample of its keys: ``entries`` of each are examined, and ``shown`` are returned."""
        return self._run(calls.sample(self.keys, entries, shown))

    def due_times(self, spans_ms: Iterable[int]) -> Timeline:
        """How many items are due within each span from now on, and how late the overdue ones are."""
        return self._run(calls.timeline(self.keys, spans_ms))

    def leases_over(self, now_ms: int) -> int:
        """How many leases are past their deadlines."""
        return self._run(commands.leases_over(self.keys, now_ms))

    def time_ms(self) -> int:
        """The time of its server."""
        return self._run(commands.server_time_us(self.keys.timeout)) // 1000

    def is_paused(self) -> bool:
        """Whether its delivery is paused."""
        return self._run(commands.get_field(self.keys.settings, "paused")) is not None

    # -- acting: a batch, done once by its nonce ---------------------------------------------------------------------

    def change(self, nonce: bytes, action: WaitingAction, ms: int, entries: Sequence[Met], shift: int = 0) -> Mended:
        """Cancels waiting items, sets their due time to ``ms`` ("to"), or delays them by ``ms`` ("by")."""
        remember_ms = self.servers.remember_ms
        return self._run(calls.mend(self.lease_keys, nonce, action, ms, remember_ms, entries, shift=shift))

    def change_aside(self, nonce: bytes, kind: AsideKind, action: AsideAction, elements: Sequence[Aside]) -> Mended:
        """Purges elements that were set aside, returns them to the queue, or sets ready values aside."""
        return self._run(calls.mend_aside(self.lease_keys, nonce, kind, action, self.servers.remember_ms, elements))

    def release(self, nonce: bytes, leases: Sequence[bytes]) -> list[bool]:
        """Ends leases of crashed receivers; their values are ready again. Returns for each whether it existed."""
        envelope = self.servers.client.runtime.options.envelope
        told = self._run(calls.give_back(self.lease_keys, envelope, leases, counted=False, crashed=True, nonce=nonce))
        return [each != b"lost" for each in told]

    def ack(self, nonce: bytes, leases: Sequence[bytes]) -> Mended:
        """Acks leases: their values are done."""
        return self._run(calls.mend_ack(self.lease_keys, nonce, leases))

    def pause(self) -> None:
        """Stops its delivery."""
        self._run(commands.set_field(self.keys.settings, "paused", 1))

    def resume(self) -> None:
        """Ends a pause."""
        self._run(calls.resume(self.keys))

    def set_aside(self, value: bytes) -> RedissonDQError | None:
        """Sets aside a taken value that no codec can read. Returns the error if that fails."""
        return self.servers.client.runtime.connections.undecodable.put([value], self.keys.undecodable)

    # -- taking an action back ---------------------------------------------------------------------------------------

    def change_back(self, nonce: bytes, action: WaitingAction, entries: Sequence[tuple[Met, str]]) -> Mended:
        """Undoes :meth:`change`. Takes the score that the action gave each entry."""
        return self._run(calls.unmend(self.keys, nonce, action, self.servers.remember_ms, entries))

    def change_aside_back(
        self, nonce: bytes, kind: AsideKind, action: AsideAction, elements: Sequence[Aside]
    ) -> Mended:
        """Undoes :meth:`change_aside`."""
        return self._run(calls.unmend_aside(self.lease_keys, nonce, kind, action, elements))

    def lease_again(self, nonce: bytes, leases: Sequence[tuple[bytes, int, bytes, bytes]]) -> Mended:
        """Undoes :meth:`release`, by id, deadline in ms, record and value."""
        return self._run(calls.unrelease(self.keys, nonce, leases))

    def nonces(self) -> list[bytes]:
        """The nonces of the actions of the last day, and their recorded outcomes."""
        return self._run(commands.members_of(self.keys.returned))

    # -- contents, as they are stored in Redis -----------------------------------------------------------------------

    def command(self, key: str, kind: str, *words: Any, durable: Durability | None = None) -> Any:
        """The reply to a command on one of its keys: ``command(keys.records, "hash", "HGETALL")``."""
        return self._run(KeyCommand(key, kind, words).request.durably(durable))

    def server_info(self) -> bytes:
        """``INFO server`` of the queue's node."""
        return self._run(Request(words=("INFO", "server"), types={self.keys.ready: ""}, parse=bytes))

    def pool(self) -> ConnectionPool:
        """The connections to the queue's node, for a ``WATCH`` by redis-py."""
        return self.servers.client.runtime.connections.pool_of(self.keys.ready)

    def scores(self, key: str, after: tuple[bytes, bytes] | None, most: int) -> list[tuple[bytes, bytes]]:
        """Members of a sorted set, with their scores as texts, that come after a given one."""
        return self._run(calls.page(key, after, most))

    def exchange(
        self,
        types: dict[str, str],
        items: list[list[ExchangeStep]],
        *,
        mark: DoneMark | None = None,
        timeout: str = "",
        channel: str = "",
        durable: Durability | None = None,
    ) -> list[bool] | None:
        """Moves contents between keys, item by item: all steps of an item are done or none.

        ``types`` are the keys that may be touched. With ``mark`` it is done only once, and returns None the next time.
        A new head of the zset ``timeout`` is announced in ``channel``.
        """
        request = calls.exchange(types, items, mark=mark, timeout=timeout, channel=channel)
        return self._run(request.durably(durable))

    def _run(self, request: Request[T]) -> T:
        return self.servers.run(request)


def _target(id: str | bytes, due_ms: int | None = None) -> Target:
    """An item by the id given to its offer, by the id that the offer returned, or by the id of its entry."""
    if isinstance(id, bytes):
        return Target(entry=id, due_ms=due_ms)
    made = entry_id(id)
    return Target(given_id=id) if made is None else Target(entry=made[1], due_ms=made[0])
