"""The waiting side of a queue: the words of offers, and the items that replies describe."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import accumulate
from typing import TYPE_CHECKING, TypeVar

from redisson_dq._common.texts import shown
from redisson_dq._redis.options import Options
from redisson_dq.calls import walks
from redisson_dq.calls.checks import check_count, check_index
from redisson_dq.calls.long_calls import told_if_long
from redisson_dq.calls.open_queue import DELAYED, LEAN, LeaseTerms, OpenQueue
from redisson_dq.calls.waiting_item import WaitingItem
from redisson_dq.calls.walks import Walk
from redisson_dq.codecs.base import Codec
from redisson_dq.durability import Durability
from redisson_dq.errors import (
    ArgumentError,
    DuplicateItemError,
    EncodeError,
    QueueFullError,
    RedisConnectionError,
    RedisReplyError,
    RedissonDQError,
)
from redisson_dq.items import ItemState, OfferOutcome, Outcome, entry_id, item_id
from redisson_dq.observing import Expired, Observers, SetAside
from redisson_dq.scheduling.times import (
    Delay,
    delays_in_seconds,
    down_to_ms,
    due_word,
    from_ms,
    span_ms,
    span_us,
    to_ms,
)
from redisson_dq.wire import calls
from redisson_dq.wire.calls import Added, Due, DueRange, Found, Page, Target
from redisson_dq.wire.envelope import unwrap
from redisson_dq.wire.keys import QueueKeys
from redisson_dq.wire.leases import NAMED
from redisson_dq.wire.request import Request, Word

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from redisson_dq.scheduling.recurrence import Recurrence

__all__ = ["LARGEST_CONTEXT", "DelayedSide", "note_offered", "tell_undelivered"]

T = TypeVar("T")

# One script call takes at most so many values. Beyond its first value it takes at most so many bytes.
_BATCH_VALUES = 1000
_BATCH_BYTES = 1_000_000

# One call takes at most so many due values.
_MOST_DUE = 1000

_LONGEST_ID = 512
# Outside of a pipeline these calls are several short scripts.
_IN_A_PIPELINE = "contains or remove in a pipeline"
#: A context takes so many bytes at most, as JSON.
LARGEST_CONTEXT = 16_384


def note_offered(error: RedissonDQError, text: str, offered: int) -> None:
    """Adds to an error how many values of a call are in. If some are, the call may have been carried out in part."""
    error.args = (f"{error}; {text}",)
    if offered and isinstance(error, (RedisConnectionError, RedisReplyError)):
        error.maybe_done = True


class DelayedSide(OpenQueue[T]):
    """The requests that handles send about waiting items."""

    def __init__(
        self, name: str, codec: Codec | None, options: Options, *, lean: bool, **terms: Unpack[LeaseTerms]
    ) -> None:
        super().__init__(name, codec, options, LEAN if lean else DELAYED, **terms)

    # -- words of an offer -------------------------------------------------------------------------------------------

    def offer(
        self,
        due: Word,
        value: T,
        *,
        id: str | None = None,
        on_duplicate: str | None = None,
        deduplicate_for: Delay | None = None,
        expires: Delay | None = None,
        context: Mapping[str, str] | None = None,
        durable: Durability | None = None,
    ) -> Request[WaitingItem[T]]:
        """``due`` is a word of ``_times.due_word``."""
        data = self.encode(value)
        if id is None and deduplicate_for is None and expires is None and not context:
            if on_duplicate is not None:
                raise ArgumentError(f"queue {self.name!r}: on_duplicate= goes with id= or deduplicate_for=")
            plain = calls.offer(self.keys, self.options.envelope, due, data, lean=self.kind.lean)
            return self.adding(plain, durable).then(lambda added: self.offered(added, data, None))
        if on_duplicate not in (None, "reject", "keep", "replace"):
            raise ArgumentError(
                f"queue {self.name!r}: on_duplicate= is 'reject', 'keep' or 'replace', not {shown(on_duplicate)}"
            )
        request = calls.offer_item(
            self.lease_keys,
            self.options.envelope,
            due,
            data,
            key=self.offer_key(id, data, deduplicate_for),
            on_duplicate=on_duplicate or "reject",
            lateness_ms=None if expires is None else span_ms(expires, self.name, "expires="),
            duplicate_us=0 if deduplicate_for is None else self.interval_us(deduplicate_for),
            remember_ms=self.options.remember_ms,
            context=self.context_word(context),
            lean=self.kind.lean,
        )
        return self.adding(request, durable).then(lambda added: self.offered(added, data, id))

    def offer_batches(
        self, values_and_delays: Iterable[tuple[T, Delay]]
    ) -> Iterator[tuple[Sequence[float], list[bytes]]]:
        """Delays in seconds and encoded values, in batches for one call each. Checks and encodes all of them."""
        values: list[T] = []
        delays: list[Delay] = []
        for pair in self.collected(values_and_delays, "pairs of value and delay"):
            try:
                # Texts, sets and mappings can be unpacked too, into parts that nobody meant.
                value, delay = pair if isinstance(pair, (tuple, list)) else ()
            except ValueError:
                raise ArgumentError(
                    f"queue {self.name!r}: offer_all takes pairs of value and delay in seconds, not {shown(pair)}"
                ) from None
            values.append(value)
            delays.append(delay)
        seconds, encoded = delays_in_seconds(self.name, delays), self.encode_all(values)
        return ((seconds[batch], encoded[batch]) for batch in _batches(encoded))

    def offer_key(self, id: str | None, data: bytes, deduplicate_for: Delay | None) -> Word:
        if id is None:
            return "" if deduplicate_for is None else self.payload_key(data)
        if deduplicate_for is not None:
            raise ArgumentError(
                f"queue {self.name!r}: an offer is known by id= or by its payload (deduplicate_for=), not by both"
            )
        if entry_id(self.checked_id(id)) is not None:
            raise ArgumentError(f"queue {self.name!r}: {id!r} has the form of an id that is made here; choose another")
        return f"i{id}"

    def presence(self, data: bytes) -> Request[bool]:
        return self.contains_bytes([data])

    def equal_offers(self, value: T) -> list[tuple[Request[Page], EncodeError]]:
        """Lookups of items that were offered with deduplicate_for=, whose values are equal to this one in Python and of
        another type in Java. Each has the error to raise when it finds one.
        """
        found = []
        for data, (own, name) in self.of_other_types([value]).items():
            target = Target(payload=self.payload_key(data))
            found.append((calls.find_item(self.lease_keys, target, 0), self.other_type(own, name)))
        return found

    @staticmethod
    def payload_key(data: bytes) -> str:
        return f"h{hashlib.sha256(data).hexdigest()}"

    def context_word(self, context: Mapping[str, str] | None) -> bytes:
        if not context:
            return b""
        if not isinstance(context, Mapping) or not all(
            isinstance(word, str) for pair in context.items() for word in pair
        ):
            raise ArgumentError(f"queue {self.name!r}: context= is a mapping from str to str, not {shown(context)}")
        if NAMED in context:
            raise ArgumentError(f"queue {self.name!r}: {NAMED!r} is a word of this library; choose another in context=")
        try:
            text = json.dumps(dict(context), ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            raise ArgumentError(f"queue {self.name!r}: context= is text that UTF-8 can hold: {error}") from error
        if len(text) > LARGEST_CONTEXT:
            raise ArgumentError(f"queue {self.name!r}: context= takes {len(text)} bytes, more than {LARGEST_CONTEXT}")
        return text

    def interval_us(self, deduplicate_for: Delay) -> int:
        us = span_us(deduplicate_for, self.name, "deduplicate_for=")
        if not us:
            raise ArgumentError(f"queue {self.name!r}: deduplicate_for= is above zero; without it, any value is added")
        return us

    # -- replies -----------------------------------------------------------------------------------------------------

    def offered(self, added: Added, data: bytes, id: str | None) -> WaitingItem[T]:
        self.not_full(added)
        made = item_id(added.due_ms, added.entry) if id is None else id
        if added.outcome == "duplicate":
            raise DuplicateItemError(
                f"queue {self.name!r}: an item {made!r} already stands, it is {added.fate}; "
                "on_duplicate='keep' or 'replace' says what to do instead of this error",
                id=made,
                due=from_ms(added.due_ms),
                state=added.fate,
            )
        outcome = OfferOutcome(added.outcome)
        if outcome is not OfferOutcome.KEPT:
            self.tell_offered(1)
        return WaitingItem(
            id=made,
            due_ms=added.due_ms,
            data=data if added.value is None else added.value,
            target=Target(entry=added.entry, due_ms=added.due_ms),
            outcome=outcome,
            now_us=added.now_us,
            clock=self.options.clock,
            read_us=self.options.clock.now_us(),
            decode=self._waits,
        )

    def all_offered(self, added: Added) -> int:
        count = self.not_full(added).count
        self.tell_offered(count)
        return count

    def not_full(self, added: Added) -> Added:
        if added.outcome == "full":
            raise QueueFullError(f"queue {self.name!r}: as many items wait as set_max_size() allows; nothing was added")
        return added

    def _waits(self, data: bytes) -> T:
        return self.in_place([data], self.keys.timeout)[0]

    def polled(self, reply: tuple[list[bytes], int]) -> list[T]:
        found, set_aside = reply
        self.tell_undelivered(set_aside)
        return self.popped(found)

    def take_due(self, wanted: DueRange, told: Callable[[Due], None]) -> Request[list[T]]:
        """``told`` is called with the reply before the values are decoded."""

        def popped(due: Due) -> list[T]:
            told(due)
            self.tell_undelivered(due.set_aside, due.expired)
            return self.popped(list(due.values))

        request = self.working(calls.take_due(self.keys, wanted, self.options.remember_ms))
        return told_if_long(request, self, "take_due()").then(popped, aside=self.keys.undecodable)

    def due_range(self, until: datetime | None, since: datetime | None, offset: int, limit: int) -> DueRange:
        """Raises ArgumentError."""
        if check_index(offset, self.name) < 0:
            raise ArgumentError(f"queue {self.name!r}: offset= is an int from 0 on, not {shown(offset)}")
        return DueRange(
            since_ms=None if since is None else to_ms(since, self.name, "since="),
            until_ms=None if until is None else down_to_ms(until, self.name, "until="),
            offset=offset,
            limit=min(check_count(limit, self.name), _MOST_DUE),
        )

    def tell_undelivered(self, set_aside: int, expired: int = 0) -> None:
        """Tells of so many values that did not come to the caller. Called by the call that found them."""
        tell_undelivered(self.options.observers, self.name, self.keys, set_aside, expired)

    def waiting(self, page: Page) -> list[WaitingItem[T]]:
        read_us = self.options.clock.now_us()
        return [self._waiting_item(found, page.now_us, read_us) for found in page.found]

    def _waiting_item(self, found: Found, now_us: int, read_us: int) -> WaitingItem[T]:
        offered_ms = found.due_ms if found.offered_ms is None else found.offered_ms
        return WaitingItem(
            id=found.given_id or item_id(offered_ms or 0, found.entry),
            due_ms=found.due_ms,
            data=found.data,
            target=Target(entry=found.entry, due_ms=offered_ms),
            now_us=now_us,
            clock=self.options.clock,
            read_us=read_us,
            state=ItemState(found.state),
            attempts=found.attempts,
            decode=self._waits,
        )

    # -- parts of requests -------------------------------------------------------------------------------------------

    def items(self, start: int, stop: int, by: str, *, part: bool) -> Request[tuple[list[WaitingItem[T]], int | None]]:
        """A page of items. With ``part`` some 1 MB of it, and the index of the next item, or None at its end."""
        request = told_if_long(calls.items(self.keys, by, start, stop, part=part), self, "items()")
        return request.then(lambda page: (self.waiting(page), start + len(page.found) if page.is_cut else None))

    def values(self, start: int, stop: int, *, part: bool) -> Request[list[T]]:
        """Values in the order of offers; they stay. With ``part`` some 1 MB of them at most, and one at least.

        Raises EnvelopeError for an entry of no known format.
        """
        request = told_if_long(calls.read_waiting(self.keys, start, stop, part=part), self, "read_all() or range()")
        return request.then(lambda members: self.in_place([unwrap(member)[1] for member in members], self.keys.timeout))

    def contains_bytes(self, values: list[bytes]) -> Request[bool]:
        """Whether each of the values waits, in one request."""
        distinct = list(dict.fromkeys(values))
        request = calls.contains(self.keys, distinct, calls.WHOLE)
        return told_if_long(request, self, _IN_A_PIPELINE).then(lambda walked: len(walked.result) == len(distinct))

    def remove_bytes(self, which: str, values: list[bytes]) -> Request[bool]:
        """Whether any was removed: the "first" that equals one of them, "all" that do, or the "others"."""
        request = calls.remove(self.keys, which, values, self.options.remember_ms, calls.WHOLE)
        return told_if_long(request, self, _IN_A_PIPELINE).then(lambda walked: walked.result > 0)

    def removal(self, which: str, values: list[bytes]) -> Walk[int, int]:
        """Removes the entries in a walk of short calls. Returns how many it removed."""
        return walks.removed(self.keys, which, values, self.options.remember_ms)

    def reschedule(
        self, id: str | WaitingItem[T], delay: Delay | None = None, at: datetime | None = None
    ) -> Request[tuple[Outcome, int, int]]:
        """The outcome, the due time in ms, the server's time in us."""
        due = due_word(self.name, delay, at)
        envelope = self.options.envelope
        request = calls.reschedule(self.lease_keys, self.target(id), due, self.options.remember_ms, envelope)
        return request.then(lambda reply: (Outcome(reply[0]), reply[1], reply[2]))

    def offer_recurring(self, value: T, id: str, recurrence: Recurrence, first_ms: int | None) -> Request[OfferOutcome]:
        if first_ms is None:
            raise ArgumentError(f"queue {self.name!r}: the recurring offer {id!r} would never come")
        request = calls.recur(
            self.keys,
            self.options.envelope,
            self.checked_id(id),
            recurrence.to_json(),
            self.encode(value),
            first_ms,
            lean=self.kind.lean,
        )
        return self.adding(request).then(lambda reply: OfferOutcome(reply[0]))

    def target(self, id: str | WaitingItem[T]) -> Target:
        if isinstance(id, WaitingItem):
            return id.target
        made = entry_id(self.checked_id(id))
        return Target(given_id=id) if made is None else Target(due_ms=made[0], entry=made[1])

    def checked_id(self, id: object) -> str:
        """Raises ArgumentError for an object that cannot be an id."""
        try:
            if isinstance(id, str) and 0 < len(id.encode()) <= _LONGEST_ID:
                return id
        except UnicodeEncodeError:
            pass
        raise ArgumentError(
            f"queue {self.name!r}: an id is a str of 1 to {_LONGEST_ID} bytes in UTF-8, not {shown(id)}"
        )


def _batches(values: list[bytes]) -> Iterator[slice]:
    start = 0
    while start < len(values):
        stop = start + _BATCH_VALUES
        if sum(map(len, values[start:stop])) > _BATCH_BYTES:
            sizes = accumulate(map(len, values[start:stop]))
            stop = start + max(1, sum(size <= _BATCH_BYTES for size in sizes))
        yield slice(start, stop)
        start = stop


def tell_undelivered(observers: Observers, name: str, keys: QueueKeys, set_aside: int, expired: int) -> None:
    """Tells how many entries cannot be delivered, and how many items were too late to be."""
    if set_aside:
        observers.tell(SetAside(queue=name, count=set_aside, kept_in=keys.quarantine))
    if expired:
        observers.tell(Expired(queue=name, count=expired, kept_in=keys.expired))
