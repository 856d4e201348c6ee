"""Assertions about queues, through their codecs. Those on asyncio are awaited."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any

__all__ = ["assert_dead", "assert_not_offered", "assert_offered", "assert_settled", "offered"]

_MISSING = object()
# So many items are looked at.
_MOST, _MOST_DEAD = 10_000, 1_000
#: A delay is read after the offer. Without a test's clock, time has gone on by then.
_TOLERANCE = timedelta(seconds=1)


def offered(delayed: Any) -> Any:
    """The items that wait in a delayed queue, in due order, each with ``value``, ``id``, ``due`` and ``remaining``.

    For example::

        [item.value for item in offered(client.delayed_queue("orders"))]
    """
    return delayed.items(0, _MOST - 1)


def assert_offered(
    delayed: Any,
    value: Any = _MISSING,
    *,
    fields: Mapping[str, Any] | None = None,
    delay: Any = None,
    id: str | None = None,
) -> Any:
    """Asserts that exactly one waiting item is like this, and returns it. Raises AssertionError with all that wait.

    - ``value``: an equal value, or a function of the value that tells whether it is the one
    - ``fields``: fields or keys that the value has, with their values
    - ``delay``: in how much time it is due: a timedelta, seconds, or ``pytest.approx`` of one
    - ``id``: the name of the item

    For example::

        assert_offered(delayed, fields={"order": 42}, delay=timedelta(minutes=30))
    """
    wanted = _described(value, fields, delay, id)

    def check(items: Sequence[Any]) -> Any:
        found = [each for each in items if _is_like(each, value, fields, delay, id)]
        if len(found) != 1:
            how_many = f"{len(found)} items are" if found else "no item is"
            raise AssertionError(f"queue {delayed.name!r}: {how_many} like {wanted}\n{_listed(items)}")
        return found[0]

    return _then(offered(delayed), check)


def assert_not_offered(
    delayed: Any,
    value: Any = _MISSING,
    *,
    fields: Mapping[str, Any] | None = None,
    delay: Any = None,
    id: str | None = None,
) -> Any:
    """Asserts that no waiting item is like this; without more arguments, that nothing waits."""
    wanted = _described(value, fields, delay, id)

    def check(items: Sequence[Any]) -> None:
        if any(_is_like(each, value, fields, delay, id) for each in items):
            raise AssertionError(f"queue {delayed.name!r}: an item is like {wanted}\n{_listed(items)}")

    return _then(offered(delayed), check)


def assert_settled(queue: Any) -> Any:
    """Asserts that nothing is left to be done: no value waits, is ready, in flight, dead or undecodable.

    Recurring offers may go on. Raises AssertionError with the figures.
    """

    def check(stats: Any) -> None:
        left = {name: getattr(stats, name) for name in ("ready", "in_flight", "dead", "undecodable", "quarantined")}
        left["waiting"] = stats.waiting - stats.recurring
        if any(count > 0 for count in left.values()):
            told = ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in left.items() if count > 0)
            raise AssertionError(f"queue {queue.name!r} is not settled: {told}; next due {stats.next_due}")

    return _then(queue.stats(), check)


def assert_dead(queue: Any, value: Any = _MISSING, *, reason: str | None = None) -> Any:
    """Asserts that exactly one dead letter is like this, and returns it.

    ``value`` is as for :func:`assert_offered`. ``reason`` is a part of the letter's reason. Raises AssertionError with
    all dead letters.
    """

    def check(letters: Sequence[Any]) -> Any:
        found = [
            each for each in letters if _is_value(each.value, value, None) and (reason is None or reason in each.reason)
        ]
        if len(found) != 1:
            there = "".join(f"\n  {each.value!r}: {each.reason}" for each in letters) or "\n  nothing"
            raise AssertionError(f"queue {queue.name!r}: {len(found)} dead letters are like this, of:{there}")
        return found[0]

    return _then(queue.dead_letters(0, _MOST_DEAD - 1), check)


def _then(result: Any, check: Callable[[Any], Any]) -> Any:
    if not inspect.isawaitable(result):
        return check(result)

    async def checked() -> Any:
        return check(await result)

    return checked()


def _is_like(item: Any, value: Any, fields: Mapping[str, Any] | None, delay: Any, id: str | None) -> bool:
    return (
        (id is None or item.id == id)
        and (delay is None or _is_delay(item.remaining, delay))
        and _is_value(item.value, value, fields)
    )


def _is_value(found: Any, value: Any, fields: Mapping[str, Any] | None) -> bool:
    for name, wanted in (fields or {}).items():
        field = found.get(name, _MISSING) if isinstance(found, Mapping) else getattr(found, name, _MISSING)
        if field is _MISSING or field != wanted:
            return False
    if value is _MISSING:
        return True
    return bool(value(found)) if inspect.isroutine(value) else bool(found == value)


def _is_delay(left: timedelta | None, wanted: Any) -> bool:
    if left is None:
        return False
    if isinstance(wanted, (int, float)):
        wanted = timedelta(seconds=wanted)
    if isinstance(wanted, timedelta):
        # Time may only have gone on since the offer.
        return timedelta(0) <= wanted - left < _TOLERANCE
    return bool(left == wanted or left.total_seconds() == wanted)


def _described(value: Any, fields: Mapping[str, Any] | None, delay: Any, id: str | None) -> str:
    named = {"value": value, "fields": fields, "delay": delay, "id": id}
    told = [f"{name}={each!r}" for name, each in named.items() if each is not None and each is not _MISSING]
    return ", ".join(told) or "any"


def _listed(items: Sequence[Any]) -> str:
    if not items:
        return "  nothing waits"
    return "\n".join(f"  {each.value!r}, id {each.id!r}, due in {each.remaining}" for each in items)
