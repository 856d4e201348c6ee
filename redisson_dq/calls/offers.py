"""Offers: one value with its options, and many with their delays."""

from __future__ import annotations

import hashlib
import json
import logging
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypedDict, TypeVar
from zlib import crc32

from redisson_dq._common.texts import shown
from redisson_dq.calls.items import Page, Target, WaitingItem, checked_id, find_item
from redisson_dq.calls.open_queue import OpenQueue
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
from redisson_dq.items import OfferOutcome, entry_id, item_id
from redisson_dq.scheduling.times import Delay, delays_in_seconds, from_ms, span_ms, span_us
from redisson_dq.wire.leases import CURSOR, NAMED
from redisson_dq.wire.request import Request, Word

if TYPE_CHECKING:
    pass

__all__ = [
    "LARGEST_CONTEXT",
    "OfferOptions",
    "all_offered",
    "equal_offers",
    "names_of_equal_offers",
    "note_offered",
    "offered",
    "tell_other_integer",
]

logger = logging.getLogger("redisson_dq")
T = TypeVar("T")

# The most values of one script call, and the most bytes of them beyond the first value.
_BATCH_VALUES = 1000
_BATCH_BYTES = 1_000_000

#: The most bytes of a context, as JSON.
LARGEST_CONTEXT = 16_384


#: How an offer treats an id, or a payload, that is already in the queue.
_OnDuplicate = Literal["reject", "keep", "replace"]


class OfferOptions(TypedDict, total=False):
    """The options of ``offer``, of each kind of handle. Their defaults are in :func:`offered`."""

    id: str | None
    on_duplicate: _OnDuplicate | None
    deduplicate_for: Delay | None
    expires: Delay | None
    context: Mapping[str, str] | None
    durable: Durability | None


def note_offered(error: RedissonDQError, text: str, offered: int) -> None:
    """Adds to an error how many values of a call are in. If some are, the call may have been carried out in part."""
    error.args = (f"{error}; {text}",)
    if offered and isinstance(error, (RedisConnectionError, RedisReplyError)):
        error.maybe_done = True


# -- one value -------------------------------------------------------------------------------------------------------


def offered(
    queue: OpenQueue[T],
    due: Word,
    value: T,
    *,
    id: str | None = None,
    on_duplicate: _OnDuplicate | None = None,
    deduplicate_for: Delay | None = None,
    expires: Delay | None = None,
    context: Mapping[str, str] | None = None,
    durable: Durability | None = None,
) -> Request[WaitingItem[T]]:
    """``due`` is a word of ``times.due_word``."""
    data = queue.encode(value) if deduplicate_for is None else queue.encode_to_compare(value)
    if id is None and deduplicate_for is None and expires is None and not context:
        if on_duplicate is not None:
            raise ArgumentError(f"queue {queue.name!r}: on_duplicate= needs id= or deduplicate_for=")

        def added(reply: list[Any]) -> WaitingItem[T]:
            count, entry, due_ms, now_us = reply
            if not count:
                _refuse_full(queue)
            return _offered_item(queue, OfferOutcome.OFFERED, item_id(due_ms, entry), data, entry, due_ms, now_us)

        return queue.call(
            "offer",
            (queue.form, due, data),
            added,
            durable=queue.confirmation(durable),
            on_sending=queue.starts,
        )
    if on_duplicate not in (None, "reject", "keep", "replace"):
        raise ArgumentError(
            f"queue {queue.name!r}: on_duplicate= must be 'reject', 'keep' or 'replace', not {shown(on_duplicate)}"
        )
    return queue.call(
        "offer_item",
        (
            *(queue.form, due, data, _offer_key(queue, id, data, deduplicate_for), on_duplicate or "reject"),
            "" if expires is None else span_ms(expires, queue.name, "expires="),
            0 if deduplicate_for is None else _interval_us(queue, deduplicate_for),
            queue.options.remember_ms,
            _context_word(queue, context),
        ),
        lambda reply: _named_item(queue, reply, data, id),
        durable=queue.confirmation(durable),
        on_sending=queue.starts,
    )


def _offer_key(queue: OpenQueue[Any], id: str | None, data: bytes, deduplicate_for: Delay | None) -> Word:
    """ "i" and an id of the caller's, "h" and a hash of the payload, or empty."""
    if id is None:
        return "" if deduplicate_for is None else _payload_key(data)
    if deduplicate_for is not None:
        raise ArgumentError(f"queue {queue.name!r}: use either id= or deduplicate_for=, not both")
    if entry_id(checked_id(queue, id)) is not None:
        raise ArgumentError(f"queue {queue.name!r}: {id!r} has the form of a generated id; choose another")
    return f"i{id}"


def _payload_key(data: bytes) -> str:
    return f"h{hashlib.sha256(data).hexdigest()}"


def equal_offers(queue: OpenQueue[T], value: T) -> list[Request[list[EncodeError]]]:
    """Lookups of items that were offered with deduplicate_for=, whose values are equal to this one in Python and of
    another type in Java: they would be no duplicates of it. Each gives the errors for those that it finds.
    """
    lookups = []
    for other in queue.of_other_types([value]):
        # Where the offers have a key, equal ones are in this partition; without one in that of their bytes.
        places = {queue, queue.partitions[crc32(other.data) % len(queue.partitions)]} if queue.partitions else {queue}
        for place in places:
            request = find_item(place.lease_keys, Target(payload=_payload_key(other.data)), 0)
            lookups.append(request.then(_errors_of(queue.other_type(other))))
    return lookups


def names_of_equal_offers(queue: OpenQueue[T], value: T) -> tuple[str, dict[str, EncodeError]]:
    """The name of an offer with deduplicate_for=, and errors by the names of equal values of other types."""
    name = (queue.partitions[0] if queue.partitions else queue).name
    others = {name + _payload_key(other.data): queue.other_type(other) for other in queue.of_other_types([value])}
    return name + _payload_key(queue.encode_to_compare(value)), others


def _errors_of(error: EncodeError) -> Callable[[Page], list[EncodeError]]:
    return lambda page: [error] if page.found else []


def _interval_us(queue: OpenQueue[Any], deduplicate_for: Delay) -> int:
    us = span_us(deduplicate_for, queue.name, "deduplicate_for=")
    if not us:
        raise ArgumentError(f"queue {queue.name!r}: deduplicate_for= is above zero; without it, any value is added")
    return us


def _context_word(queue: OpenQueue[Any], context: Mapping[str, str] | None) -> bytes:
    if not context:
        return b""
    if not isinstance(context, Mapping) or not all(isinstance(word, str) for pair in context.items() for word in pair):
        raise ArgumentError(f"queue {queue.name!r}: context= must be a mapping from str to str, not {shown(context)}")
    for word in (NAMED, CURSOR):
        if word in context:
            raise ArgumentError(
                f"queue {queue.name!r}: {word!r} is reserved by this library; choose another key in context="
            )
    try:
        text = json.dumps(dict(context), ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise ArgumentError(f"queue {queue.name!r}: context= is text that UTF-8 can hold: {error}") from error
    if len(text) > LARGEST_CONTEXT:
        raise ArgumentError(f"queue {queue.name!r}: context= takes {len(text)} bytes, more than {LARGEST_CONTEXT}")
    return text


def _named_item(queue: OpenQueue[T], reply: list[Any], data: bytes, id: str | None) -> WaitingItem[T]:
    """For a duplicate the script also returns the state of the item that has the id, and its value if it waits."""
    word, entry, due_ms, now_us, *duplicate = reply
    if word == b"full":
        _refuse_full(queue)
    made = item_id(due_ms, entry) if id is None else id
    if word == b"duplicate":
        state = duplicate[0].decode()
        raise DuplicateItemError(
            f"queue {queue.name!r}: an item {made!r} already exists and is {state}; "
            "on_duplicate='keep' or 'replace' chooses what to do instead of this error",
            id=made,
            due=from_ms(due_ms),
            state=state,
        )
    kept = duplicate[1] if len(duplicate) > 1 else data
    return _offered_item(queue, OfferOutcome(word.decode()), made, kept, entry, due_ms, now_us)


def _offered_item(
    queue: OpenQueue[T], outcome: OfferOutcome, id: str, data: bytes, entry: bytes, due_ms: int, now_us: int
) -> WaitingItem[T]:
    if outcome is not OfferOutcome.KEPT:
        queue.tell_offered(1)
    clock = queue.options.clock
    return WaitingItem(
        id=id,
        due_ms=due_ms,
        data=data,
        target=Target(entry=entry, due_ms=due_ms),
        outcome=outcome,
        now_us=now_us,
        clock=clock,
        read_us=clock.now_us(),
        decode=queue.waiting_value,
    )


def _refuse_full(queue: OpenQueue[Any]) -> NoReturn:
    raise QueueFullError(
        f"queue {queue.name!r}: it holds as many waiting items as set_max_size() allows; nothing was added"
    )


# -- many values -----------------------------------------------------------------------------------------------------


def all_offered(
    queue: OpenQueue[T],
    values_and_delays: Iterable[tuple[T, Delay]],
    context: Mapping[str, str] | None,
    durable: Durability | None,
) -> list[Request[int]]:
    """One request for each batch. All values are checked and encoded before the first request is returned."""
    word, confirmation = _context_word(queue, context), queue.confirmation(durable)
    script, head = ("offer_in_context", (queue.form, word)) if word else ("offer_all", (queue.form,))

    def added(reply: list[Any]) -> int:
        count: int = reply[0]
        if not count:
            _refuse_full(queue)
        queue.tell_offered(count)
        return count

    return [
        queue.call(
            script,
            (*head, struct.pack(f"<{len(delays)}d", *delays), *values),
            added,
            durable=confirmation,
            on_sending=queue.starts,
        )
        for delays, values in _offer_batches(queue, values_and_delays)
    ]


def _offer_batches(
    queue: OpenQueue[T], values_and_delays: Iterable[tuple[T, Delay]]
) -> Iterator[tuple[Sequence[float], list[bytes]]]:
    """Delays in seconds and encoded values, in batches for one call each. Checks and encodes all of them."""
    values: list[T] = []
    delays: list[Delay] = []
    for pair in queue.collected(values_and_delays, "pairs of value and delay"):
        try:
            # Texts, sets and mappings can be unpacked too, but not into a value and its delay.
            value, delay = pair if isinstance(pair, (tuple, list)) else ()  # pyright: ignore[reportAssignmentType]
        except ValueError:
            raise ArgumentError(
                f"queue {queue.name!r}: offer_all takes pairs of value and delay in seconds, not {shown(pair)}"
            ) from None
        values.append(value)
        delays.append(delay)
    seconds, encoded = delays_in_seconds(queue.name, delays), queue.encode_all(values)
    return ((seconds[batch], encoded[batch]) for batch in _batches(encoded))


def _batches(values: list[bytes]) -> Iterator[slice]:
    start = 0
    while start < len(values):
        stop = start + _BATCH_VALUES
        if sum(map(len, values[start:stop])) > _BATCH_BYTES:
            sizes = accumulate(map(len, values[start:stop]))
            stop = start + max(1, sum(size <= _BATCH_BYTES for size in sizes))
        yield slice(start, stop)
        start = stop


# -- beside Java -----------------------------------------------------------------------------------------------------


def tell_other_integer(queue: OpenQueue[T], value: T, waiting: T | None, ready: bytes | None) -> None:
    """Warns of an int that Java will take for an Integer in a queue of Longs, by the heads of the queue's two sides."""
    for head in (waiting, None if ready is None else queue.codec.decode(ready)):
        kind: Any = type(head)
        if isinstance(head, int) and kind not in (int, bool) and queue.encode(value) != queue.encode(kind(value)):
            logger.warning(
                "queue %r: an int was offered, which is a java.lang.Integer, and the queue holds a "
                "java.lang.%s: open it with type=java.%s, or Java cannot use the value",
                *(queue.name, kind.__name__, kind.__name__),
            )
            return
