"""Single items that wait: named by an id, found, listed, given another due time."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

import attrs

from redisson_dq._common.bound import Bound
from redisson_dq._common.texts import shown
from redisson_dq.calls.checks import check_page
from redisson_dq.calls.open_queue import OpenQueue
from redisson_dq.errors import ArgumentError, EnvelopeError
from redisson_dq.items import ItemState, OfferOutcome, Outcome, entry_id, item_id
from redisson_dq.scheduling.clock import Clock
from redisson_dq.scheduling.times import Delay, due_word, from_ms
from redisson_dq.wire.calls.base import call
from redisson_dq.wire.commands import whole_ms
from redisson_dq.wire.envelope import Envelope, unwrap
from redisson_dq.wire.keys import LeaseKeys
from redisson_dq.wire.leases import LeaseRecord
from redisson_dq.wire.request import Request, Word

__all__ = [
    "Found",
    "ItemFacts",
    "Page",
    "Target",
    "WaitingItem",
    "checked_id",
    "find_item",
    "page_of_items",
    "rescheduled",
    "target",
    "waiting_items",
]

T = TypeVar("T")

_LONGEST_ID = 512
_LARGEST_PAGE = 10_000


# -- an item ---------------------------------------------------------------------------------------------------------


@attrs.frozen
class Found:
    """One item: id and value of its entry, due time, id of the caller's if it has one.

    ``state`` says where it is, ``attempts`` how often it was delivered.

    For an entry in no known format ``entry`` is empty, and ``data`` is all of it.
    """

    entry: bytes
    data: bytes
    due_ms: int | None
    given_id: str | None
    state: str = "waiting"
    attempts: int = 0
    #: The due time with which its entry was offered, where ``due_ms`` is that of another one.
    offered_ms: int | None = None
    #: The size of the value, of which ``data`` may be the beginning.
    size: int | None = None
    #: The record of its deliveries, where there is one and :func:`find_item` has read it.
    record: LeaseRecord | None = None


@attrs.frozen
class Page:
    """Items, and the server's time when they were read.

    ``is_cut``: more follow them in the wanted page, which is too large for one reply.
    """

    now_us: int
    found: tuple[Found, ...]
    is_cut: bool = False


@attrs.frozen(kw_only=True)
class Target:
    """The item a call names: by the caller's id, by its payload's key, or by the entry's id and a due time.

    That is the due time it was offered with, or any later one: a record says where a rescheduled entry is.
    """

    given_id: str | None = None
    entry: bytes = b""
    due_ms: int | None = None
    payload: str = ""

    def words(self) -> tuple[Word, Word, Word]:
        """The first three arguments of a script that looks for it."""
        key = self.payload if self.given_id is None else f"i{self.given_id}"
        return key, self.entry, "" if self.due_ms is None else self.due_ms


@attrs.frozen(kw_only=True)
class WaitingItem(Generic[T]):
    """One waiting item, as it was when the call that returned it was answered.

    ``id`` is the caller's, or one that was made. ``due`` is on the server's clock, None for an entry that has lost
    its due time. ``outcome`` says what an offer did; it is None for an item that was looked up. ``state`` says where it
    is, ``attempts`` how often it was delivered.
    """

    id: str
    due_ms: int | None
    data: bytes
    target: Target
    outcome: OfferOutcome | None = None
    state: ItemState = ItemState.WAITING
    attempts: int = 0
    _now_us: int = attrs.field(alias="now_us")
    _clock: Clock = attrs.field(alias="clock", eq=False, repr=False)
    _read_us: int = attrs.field(alias="read_us")
    _decode: Callable[[bytes], T] = attrs.field(alias="decode")

    @property
    def due(self) -> datetime | None:
        """When it is due, in UTC."""
        return None if self.due_ms is None else from_ms(self.due_ms)

    @property
    def remaining(self) -> timedelta | None:
        """How long from now until it is due, below zero when that has passed. No round trip: computed from the server's
        time in the reply and the time that has passed here since then.
        """
        if self.due_ms is None:
            return None
        passed_us = self._clock.now_us() - self._read_us
        return timedelta(microseconds=self.due_ms * 1000 - self._now_us - passed_us)

    @property
    def value(self) -> T:
        """The value. Raises DecodeError (with the bytes, which stay in Redis) when the codec cannot read it."""
        return self._decode(self.data)

    def moved(self, due_ms: int, now_us: int) -> WaitingItem[T]:
        """This item with the due time that Redis has reported just now."""
        read_us = self._clock.now_us()
        return attrs.evolve(
            self, due_ms=due_ms, now_us=now_us, read_us=read_us, target=attrs.evolve(self.target, due_ms=due_ms)
        )


class ItemFacts(Bound, Generic[T]):
    """What a ``DelayedItem`` of either flavour says of its item, without a round trip."""

    _state: WaitingItem[T]

    @property
    def id(self) -> str:
        """The caller's id, or a generated one. ``cancel(id)`` and the like take it, in any process."""
        return self._state.id

    @property
    def state(self) -> ItemState:
        """Where it was when the call that gave it was answered. An item that has just been offered waits."""
        return self._state.state

    @property
    def attempts(self) -> int:
        """How often it had been delivered by then."""
        return self._state.attempts

    @property
    def due(self) -> datetime | None:
        """When it is due, in UTC, on the server's clock. None for an entry that has lost its due time."""
        return self._state.due

    @property
    def remaining(self) -> timedelta | None:
        """How long from now until it is due; below zero when that has passed. No round trip."""
        return self._state.remaining

    @property
    def value(self) -> T:
        """The value. Raises DecodeError (with the bytes, which stay in Redis) when the codec cannot read it."""
        return self._state.value

    @property
    def outcome(self) -> OfferOutcome | None:
        """The outcome of the offer; None for an item that was looked up."""
        return self._state.outcome


# -- its calls -------------------------------------------------------------------------------------------------------


def target(queue: OpenQueue[T], id: str | WaitingItem[T]) -> Target:
    """The item that an id names: the caller's, or one that an offer made."""
    if isinstance(id, WaitingItem):
        return id.target
    made = entry_id(checked_id(queue, id))
    return Target(given_id=id) if made is None else Target(due_ms=made[0], entry=made[1])


def checked_id(queue: OpenQueue[Any], id: object) -> str:
    """Raises ArgumentError for an object that cannot be an id."""
    try:
        if isinstance(id, str) and 0 < len(id.encode()) <= _LONGEST_ID:
            return id
    except UnicodeEncodeError:
        pass
    raise ArgumentError(f"queue {queue.name!r}: an id is a str of 1 to {_LONGEST_ID} bytes in UTF-8, not {shown(id)}")


def rescheduled(
    queue: OpenQueue[T], id: str | WaitingItem[T], delay: Delay | None = None, at: datetime | None = None
) -> Request[tuple[Outcome, int, int]]:
    """The outcome, the due time in ms, the server's time in us."""
    due = due_word(queue.name, delay, at)
    form = "legacy" if queue.options.envelope is Envelope.LEGACY else "lean"
    args = *target(queue, id).words(), due, queue.options.remember_ms, form
    return queue.call("reschedule", args, lambda reply: (Outcome(reply[0].decode()), int(reply[1]), reply[2]))


def find_item(keys: LeaseKeys, target: Target, head: int | None = None) -> Request[Page]:
    """A page of one item, or of none. ``head`` is how many bytes of its value are returned."""
    return call("find_item", keys, (*target.words(), -1 if head is None else head), _found_item)


def _text(given: bytes) -> str:
    """An id as it is stored in its item's record. Another program may have written the record."""
    return given.decode(errors="backslashreplace")


def _found_item(reply: list[Any]) -> Page:
    now_us, *rest = reply
    if not rest:
        return Page(now_us, ())
    entry, offered_ms, data, key, state, due_ms, text, size = rest
    given_id = _text(key[1:]) if key.startswith(b"i") else None
    record = LeaseRecord.parse(text) if text else None
    attempts = 0 if record is None else record.attempt
    return Page(now_us, (Found(entry, data, due_ms, given_id, state.decode(), attempts, offered_ms, size, record),))


def page_of_items(
    queue: OpenQueue[T], start: int, stop: int, by: str, *, part: bool
) -> Request[tuple[list[WaitingItem[T]], int | None]]:
    """Items from index ``start`` to ``stop`` in the order of ``by``: "due" or "offer".

    With ``part`` some 1 MB of them at most, and the index of the next item, or None at the end of the page. Raises
    ArgumentError.
    """
    check_page(start, stop, _LARGEST_PAGE, queue.name, "a page of items", "items")
    if by not in ("due", "offer"):
        raise ArgumentError(f"queue {queue.name!r}: by= must be 'due' or 'offer', not {shown(by)}")

    def listed(page: Page) -> tuple[list[WaitingItem[T]], int | None]:
        return waiting_items(queue, page), start + len(page.found) if page.is_cut else None

    request = queue.call("items", (by, start, stop, "part" if part else ""), _page)
    return queue.told_if_long(request, "items()").then(listed)


def _page(reply: list[Any]) -> Page:
    now_us, members, dues, given, told, is_cut = reply
    known = {number: more for number, *more in zip(*[iter(told)] * 4, strict=True)}
    found = []
    for number, (member, due, key) in enumerate(zip(members, dues, given, strict=True)):
        try:
            entry, data = unwrap(member)
        except EnvelopeError:
            # The member blocks nothing yet: the transfer that meets it sets it aside.
            entry, data = b"", member
        item, state, attempts = known.get(number, (entry, b"waiting", 0))
        due_ms, given_id = whole_ms(due) if due else None, _text(key) if key else None
        found.append(Found(item, data, due_ms, given_id, state.decode(), attempts))
    return Page(now_us, tuple(found), bool(is_cut))


def waiting_items(queue: OpenQueue[T], page: Page) -> list[WaitingItem[T]]:
    """The items of a page."""
    read_us = queue.options.clock.now_us()
    return [_waiting_item(queue, found, page.now_us, read_us) for found in page.found]


def _waiting_item(queue: OpenQueue[T], found: Found, now_us: int, read_us: int) -> WaitingItem[T]:
    offered_ms = found.due_ms if found.offered_ms is None else found.offered_ms
    return WaitingItem(
        id=found.given_id or item_id(offered_ms or 0, found.entry),
        due_ms=found.due_ms,
        data=found.data,
        target=Target(entry=found.entry, due_ms=offered_ms),
        now_us=now_us,
        clock=queue.options.clock,
        read_us=read_us,
        state=ItemState(found.state),
        attempts=found.attempts,
        decode=queue.waiting_value,
    )
