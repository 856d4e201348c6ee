"""Assertions about queues, through their codecs. For asyncio queues, they are awaited."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Generator, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

import attrs

from redisson_dq.errors import ArgumentError, DecodeError
from redisson_dq.testing._steps import play
from redisson_dq.wire.leases import LeaseRecord
from redisson_dq.wire.request import Request

__all__ = ["assert_dead", "assert_not_offered", "assert_offered", "assert_settled", "offered"]

_MISSING: Any = object()
# How many items are examined, and how many are listed.
_MOST, _MOST_DEAD, _LISTED = 10_000, 1_000, 20
#: A delay is read after the offer. Without a test clock, some time has passed by then.
_TOLERANCE = timedelta(seconds=1)


# -- the assertions --------------------------------------------------------------------------------------------------


def offered(delayed: Any) -> Any:
    """The items that wait in a delayed queue, in due order, each with ``value``, ``id``, ``due`` and ``remaining``.

    For example::

        [item.value for item in offered(client.delayed_queue("orders"))]
    """
    return _checked(delayed).items(0, _MOST - 1)


def assert_offered(
    delayed: Any,
    value: Any = _MISSING,
    *,
    fields: Mapping[str, Any] | None = None,
    delay: Any = None,
    id: str | None = None,
    context: Mapping[str, str] | None = None,
) -> Any:
    """Asserts that exactly one waiting item matches, and returns it.

    - ``delayed``: a delayed queue, one in partitions, or several queues that have one such item together
    - ``value``: an equal value, or a function that returns whether a value matches
    - ``fields``: fields or keys that the value has, with their values
    - ``delay``: the time until it is due: a timedelta, seconds, or ``pytest.approx`` of one
    - ``id``: the name of the item
    - ``context``: entries that its ``context=`` contains

    For example::

        assert_offered(delayed, fields={"order": 42}, delay=timedelta(minutes=30))

    Raises AssertionError if none or several match. It lists the items in due order, and how the nearest one differs.
    """
    return play(_one_offered(delayed, _Likeness(value, fields, delay, id, context)))


def assert_not_offered(
    delayed: Any,
    value: Any = _MISSING,
    *,
    fields: Mapping[str, Any] | None = None,
    delay: Any = None,
    id: str | None = None,
    context: Mapping[str, str] | None = None,
) -> Any:
    """Asserts that no waiting item matches; without further arguments, that nothing waits."""
    return play(_none_offered(delayed, _Likeness(value, fields, delay, id, context)))


def assert_settled(queue: Any) -> Any:
    """Asserts that no work is left: no value is waiting, ready, in flight, dead or undecodable.

    ``queue`` is a handle of any kind, or several. Recurring offers may go on. Raises AssertionError with the figures,
    and with the items and dead letters that the handle can list.
    """
    return play(_all_settled(queue))


def assert_dead(
    queue: Any,
    value: Any = _MISSING,
    *,
    fields: Mapping[str, Any] | None = None,
    reason: str | None = None,
    id: str | None = None,
    context: Mapping[str, str] | None = None,
) -> Any:
    """Asserts that exactly one dead letter matches, and returns it.

    ``reason`` is a part of the letter's reason. The other arguments are as for :func:`assert_offered`. Raises
    AssertionError with all dead letters.
    """
    return play(_one_dead(queue, _Likeness(value, fields, None, id, context, reason)))


# -- their steps -----------------------------------------------------------------------------------------------------

_Steps = Generator[Any, Any, Any]


def _one_offered(delayed: Any, wanted: _Likeness) -> _Steps:
    rows = yield from _waiting(delayed)
    return _only_one(rows, wanted, _named(delayed), "item")


def _none_offered(delayed: Any, wanted: _Likeness) -> _Steps:
    rows = yield from _waiting(delayed)
    if found := [row for row in rows if not list(wanted.differences(row))]:
        raise AssertionError(f"{_named(delayed)}: an item is like {wanted}: {found[0]}\n{_listed(rows)}")


def _one_dead(queue: Any, wanted: _Likeness) -> _Steps:
    rows: list[_Listing] = []
    for each in _queues(queue):
        letters = yield each.dead_letters(0, _MOST_DEAD - 1)
        rows += [
            _Listing(letter, letter.offer_id or letter.id, letter.context, reason=letter.reason) for letter in letters
        ]
    return _only_one(rows, wanted, _named(queue), "dead letter")


def _all_settled(queue: Any) -> _Steps:
    told = []
    for each in _queues(queue):
        stats = yield each.stats()
        left = {name: getattr(stats, name) for name in ("ready", "in_flight", "dead", "undecodable", "quarantined")}
        left["waiting"] = stats.waiting - stats.recurring
        figures = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in left.items() if count > 0)
        if not figures:
            continue
        told.append(f"queue {each.name!r} is not settled: {figures}; next due {stats.next_due}")
        if hasattr(each, "items"):
            told.append(_listed((yield from _waiting(each))))
        elif stats.dead:
            letters = yield each.dead_letters(0, _LISTED)
            told.append(
                _listed([_Listing(letter, letter.id, letter.context, reason=letter.reason) for letter in letters])
            )
    if told:
        raise AssertionError("\n".join(told))


def _waiting(delayed: Any) -> _Steps:
    """The items of all queues in due order, with their contexts."""
    rows: list[_Listing] = []
    for each in _queues(delayed):
        items = yield offered(each)
        if len(items) == _MOST:
            raise AssertionError(f"queue {each.name!r}: more than {_MOST:,} items wait, and no more are looked at")
        contexts: dict[Any, Mapping[str, str]] = {}
        for part in {item._queue.keys: item._queue for item in items}.values():
            found = yield from _contexts(part, [item for item in items if item._queue.keys == part.keys])
            contexts.update(found)
        rows += [_Listing(item, item.id, contexts[item]) for item in items]
    return sorted(rows, key=lambda row: (row.found.due is not None, row.found.due))


def _contexts(queue: Any, items: Sequence[Any]) -> _Steps:
    deliveries = queue.keys.deliveries
    words = ("HMGET", deliveries, *(item._state.target.entry for item in items))
    texts = yield queue._run(Request(words=words, types={deliveries: "hash"}, parse=lambda reply: reply))
    return {item: LeaseRecord.parse(text or b"").context for item, text in zip(items, texts, strict=True)}


# -- items and their likeness ----------------------------------------------------------------------------------------


@attrs.frozen(eq=False)
class _Listing:
    """An item that waits, or a dead letter."""

    found: Any
    id: str
    context: Mapping[str, str]
    reason: str | None = None

    @property
    def value(self) -> Any:
        try:
            return self.found.value
        except DecodeError as error:
            return _NoValue(error)

    def __str__(self) -> str:
        told = [repr(self.value), f"id {self.id!r}"]
        told.append(f"due in {self.found.remaining}" if self.reason is None else f"reason {self.reason!r}")
        return ", ".join([*told, f"context {dict(self.context)}"] if self.context else told)


class _NoValue:
    """The placeholder for a value that the codec cannot decode. Equal to nothing."""

    def __init__(self, error: DecodeError) -> None:
        self._error = error

    def __repr__(self) -> str:
        return f"<undecodable {self._error.undecodable!r}>"


@attrs.frozen(eq=False)
class _Likeness:
    """The expected properties of an item. Any property that is None or missing matches everything."""

    value: Any
    fields: Mapping[str, Any] | None
    delay: Any
    id: str | None
    context: Mapping[str, str] | None
    reason: str | None = None

    def differences(self, row: _Listing) -> Iterator[str]:
        """The differences of a row from the expectation, in words."""
        if self.value is not _MISSING and not self._is_value(row.value):
            yield f"value: {row.value!r}"
        for name, wanted in (self.fields or {}).items():
            field = _field(row.value, name)
            if field is _MISSING:
                yield f"no field {name!r}"
            elif field != wanted:
                yield f"{name}: {field!r}, not {wanted!r}"
        if self.delay is not None and not _is_delay(row.found.remaining, self.delay):
            yield f"delay: {row.found.remaining}, not {self.delay}"
        if self.id is not None and row.id != self.id:
            yield f"id: {row.id!r}, not {self.id!r}"
        for name, word in (self.context or {}).items():
            if row.context.get(name) != word:
                yield f"context {name}: {row.context.get(name)!r}, not {word!r}"
        if self.reason is not None and self.reason not in (row.reason or ""):
            yield f"reason: {row.reason!r}, without {self.reason!r}"

    def _is_value(self, found: Any) -> bool:
        if isinstance(found, _NoValue):
            return False
        if inspect.isroutine(self.value) or isinstance(self.value, functools.partial):
            return bool(self.value(found))
        return bool(found == self.value)

    def __str__(self) -> str:
        named = attrs.asdict(self, recurse=False)
        told = [f"{name}={each!r}" for name, each in named.items() if each is not None and each is not _MISSING]
        return ", ".join(told) or "any"


def _field(value: Any, name: str) -> Any:
    return value.get(name, _MISSING) if isinstance(value, Mapping) else getattr(value, name, _MISSING)


def _is_delay(left: timedelta | None, wanted: Any) -> bool:
    if left is None:
        return False
    if isinstance(wanted, (int, float)):
        wanted = timedelta(seconds=wanted)
    if isinstance(wanted, timedelta):
        # Only some time may have passed since the offer.
        return timedelta(0) <= wanted - left < _TOLERANCE
    return bool(left == wanted or left.total_seconds() == wanted)


def _only_one(rows: list[_Listing], wanted: _Likeness, where: str, kind: str) -> Any:
    differences = {row: list(wanted.differences(row)) for row in rows}
    found = [row for row in rows if not differences[row]]
    if len(found) == 1:
        return found[0].found
    told = f"{where}: {len(found)} {kind}s are like {wanted}" if found else f"{where}: no {kind} is like {wanted}"
    if rows and not found:
        nearest = min(rows, key=lambda row: len(differences[row]))
        told += f"\n  the nearest is {nearest}\n  it differs in " + "; ".join(differences[nearest])
    raise AssertionError(f"{told}\n{_listed(rows)}")


def _listed(rows: Sequence[_Listing]) -> str:
    if not rows:
        return "  there is none"
    more = [f"  and {len(rows) - _LISTED} more"] if len(rows) > _LISTED else []
    return "\n".join(["  all of them:", *(f"  {row}" for row in rows[:_LISTED]), *more])


# -- queues ----------------------------------------------------------------------------------------------------------


def _queues(queue: Any) -> list[Any]:
    # A handle can be iterated too, on threads.
    found = list(queue) if isinstance(queue, (list, tuple, set, frozenset)) else [queue]
    if not found:
        raise ArgumentError("an assertion needs one queue at least")
    return found


def _named(queue: Any) -> str:
    names = [repr(each.name) for each in _queues(queue)]
    return f"queue {names[0]}" if len(names) == 1 else f"queues {', '.join(names)}"


def _checked(delayed: Any) -> Any:
    if not hasattr(delayed, "items"):
        raise ArgumentError(f"items wait in delayed queues: client.delayed_queue(...), not {delayed!r}")
    return delayed
