"""The calls on values that are received under a lease, and on dead letters."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, Generic, TypeVar

import attrs

from redisson_dq._common.texts import shown
from redisson_dq.calls.checks import check_count, check_page
from redisson_dq.calls.whole import WholeRequests
from redisson_dq.errors import ArgumentError
from redisson_dq.items import Redriven
from redisson_dq.scheduling.times import from_ms, from_optional_ms
from redisson_dq.wire.calls.base import call
from redisson_dq.wire.forms import newer_form, tell_newer
from redisson_dq.wire.keys import LeaseKeys, QueueKeys
from redisson_dq.wire.lease_source import leased_rows
from redisson_dq.wire.leases import Leased, LeaseRecord, Letter
from redisson_dq.wire.request import Request, Word

__all__ = ["DeadLetter", "InFlight", "LeaseRequests", "dead_letters", "in_flight"]

T = TypeVar("T")

_LARGEST_PAGE = 1000


@attrs.frozen(kw_only=True)
class InFlight(Generic[T]):
    """One value that a receiver holds, as it was when the call was answered. ``id`` is that of its delivery.

    ``offer_id`` is the ``id=`` of its offer, or None. ``cursor`` is how far its handler has come, if it reports that.
    """

    id: str
    offer_id: str | None
    data: bytes
    deadline: datetime
    attempt: int
    failures: int
    crashes: int
    first_received: datetime | None
    received: datetime | None
    reason: str
    context: dict[str, str]
    cursor: Any = None
    _decode: Callable[[bytes], T] = attrs.field(alias="decode", repr=False, eq=False)

    @property
    def value(self) -> T:
        """The value. Raises DecodeError when the codec cannot read it."""
        return self._decode(self.data)


@attrs.frozen(kw_only=True)
class DeadLetter(Generic[T]):
    """One value of a dead-letter list.

    ``redrive`` and ``purge_dead`` take the ``id``. It is empty, and the times are None, for a value that something
    else put into the list. ``attempts`` counts deliveries: ``failures`` those that ended with ``nack``, ``crashes``
    those that ended by their deadline. ``source`` is the raw name of the queue it came from. ``offer_id`` is the
    ``id=`` of its offer, or None.
    """

    id: str
    offer_id: str | None
    data: bytes
    reason: str
    source: str
    attempts: int
    failures: int
    crashes: int
    died: datetime | None
    first_received: datetime | None
    last_received: datetime | None
    offered: datetime | None
    due: datetime | None
    context: dict[str, str]
    _decode: Callable[[bytes], T] = attrs.field(alias="decode", repr=False, eq=False)

    @property
    def value(self) -> T:
        """The value. Raises DecodeError when the codec cannot read it."""
        return self._decode(self.data)


def in_flight(
    keys: QueueKeys, start: int, stop: int, *, part: bool = False
) -> Request[tuple[list[Leased], int | None]]:
    """Leases from index ``start`` to ``stop``, by their deadlines.

    With ``part`` they are some 1 MB at most. Then also gives the index of the next one, or None at the end of the page.
    """

    def parsed(reply: list[Any]) -> tuple[list[Leased], int | None]:
        now_us, rows, *following = reply
        return leased_rows(keys, now_us, 0, rows), following[0] if following else None

    return call("in_flight", keys, (start, stop, "part" if part else ""), parsed)


def dead_letters(keys: LeaseKeys, start: int, stop: int) -> Request[list[Letter]]:
    """Dead letters from index ``start`` to ``stop``, oldest first."""
    return call("dead_letters", keys, (start, stop), lambda reply: _letters(keys, reply))


def _letters(keys: LeaseKeys, reply: list[Any]) -> list[Letter]:
    for _, _, _, text, _ in reply:
        if text[:1] == b"v":
            tell_newer(keys.queue.ready, keys.dead.dead_info, "dead_info", newer_form(text))
    return [
        Letter(id, int(at) or None, source.decode(errors="replace"), LeaseRecord.parse(text), data)
        for id, at, source, text, data in reply
    ]


class LeaseRequests(WholeRequests[T]):
    """Values that are received under a lease."""

    # -- in flight ---------------------------------------------------------------------------------------------------

    def in_flight(self, start: int = 0, stop: int = 99) -> Request[list[InFlight[T]]]:
        return self.in_flight_part(start, stop, part=False).then(lambda reply: reply[0])

    def in_flight_part(self, start: int, stop: int, *, part: bool) -> Request[tuple[list[InFlight[T]], int | None]]:
        request = in_flight(self._queue.keys, *self._page(start, stop), part=part)
        return request.then(lambda reply: ([self._held(each) for each in reply[0]], reply[1]))

    def in_flight_size(self) -> Request[int]:
        return self._queue.call("in_flight_size", (), int)

    def _held(self, leased: Leased) -> InFlight[T]:
        record = LeaseRecord.parse(leased.text)
        return InFlight(
            id=leased.id.hex(),
            offer_id=record.offer_id,
            data=leased.data,
            deadline=from_ms(leased.deadline_ms),
            attempt=record.attempt,
            failures=record.failures,
            crashes=record.crashes,
            first_received=from_optional_ms(record.first_ms),
            received=from_optional_ms(record.received_ms),
            reason=record.reason,
            context=record.context,
            cursor=record.cursor,
            decode=self._stays_in(self._queue.keys.timeout),
        )

    # -- dead letters ------------------------------------------------------------------------------------------------

    def dead_letters(self, start: int = 0, stop: int = 99) -> Request[list[DeadLetter[T]]]:
        request = dead_letters(self._queue.lease_keys, *self._page(start, stop))
        return request.then(lambda found: [self._letter(each) for each in found])

    def redrive(
        self, ids: Iterable[str | DeadLetter[T]] | None = None, limit: int | None = None, to: str | None = None
    ) -> Request[Redriven]:
        dead = self._queue.dead_keys
        own = self._queue.keys
        target = own if to is None else self._queue.keys_of(to)
        if target.ready != own.ready and target.ready in (*attrs.astuple(dead), *attrs.astuple(own)):
            raise ArgumentError(
                f"queue {self._queue.name!r}: to= is the dead-letter list itself, or a key of the queue"
            )
        keys = LeaseKeys(queue=target, dead=dead)
        return call("redrive", keys, self._chosen(ids, limit), _redriven)

    def purge_dead(self, ids: Iterable[str | DeadLetter[T]] | None = None, limit: int | None = None) -> Request[int]:
        which, most, *chosen = self._chosen(ids, limit)
        return self._queue.call("purge_dead", (which, most, self._queue.options.remember_ms, *chosen), int)

    def _letter(self, letter: Letter) -> DeadLetter[T]:
        record = letter.record
        return DeadLetter(
            id=letter.id.hex(),
            offer_id=record.offer_id,
            data=letter.data,
            reason=record.reason,
            source=letter.source,
            attempts=record.attempt,
            failures=record.failures,
            crashes=record.crashes,
            died=from_optional_ms(letter.at_ms),
            first_received=from_optional_ms(record.first_ms),
            last_received=from_optional_ms(record.received_ms),
            offered=from_optional_ms(record.offered_ms),
            due=from_optional_ms(record.due_ms),
            context=record.context,
            decode=self._stays_in(self._queue.dead_keys.dead),
        )

    def _chosen(self, ids: Iterable[str | DeadLetter[T]] | None, limit: int | None) -> tuple[Word, ...]:
        """The arguments by which a script knows the letters that a call means."""
        if ids is None:
            return "all", self._most(limit)
        named = [each.id if isinstance(each, DeadLetter) else each for each in self._queue.collected(ids, "ids")]
        if len(named) > _LARGEST_PAGE:
            raise ArgumentError(
                f"queue {self._queue.name!r}: at most {_LARGEST_PAGE} ids in one call, not {len(named)}"
            )
        try:
            chosen = [bytes.fromhex(each) for each in named]
        except (TypeError, ValueError):
            raise ArgumentError(
                f"queue {self._queue.name!r}: an id of a dead letter is hexadecimal, not {shown(named)}"
            ) from None
        return "ids", self._most(limit), *chosen

    def _most(self, limit: int | None) -> int:
        return _LARGEST_PAGE if limit is None else min(check_count(limit, self._queue.name), _LARGEST_PAGE)

    # -- inside ------------------------------------------------------------------------------------------------------

    def _page(self, start: int, stop: int) -> tuple[int, int]:
        return check_page(start, stop, _LARGEST_PAGE, self._queue.name)

    def _stays_in(self, key: str) -> Callable[[bytes], T]:
        return lambda data: self._queue.in_place([data], key)[0]


def _redriven(reply: list[int]) -> Redriven:
    """The script gives how many were moved, how many are left, and how many clients have the queue open (or -1)."""
    count, left, clients = reply
    return Redriven(count=count, left=left, clients=None if clients < 0 else clients)
