"""Which of the values that were seen in a queue may be leased: the arguments of ``admit.lua`` for them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

import attrs

from redisson_dq.codecs.encrypted import key_id_of
from redisson_dq.wire.calls import LimitWords, Seen
from redisson_dq.wire.leases import Leased
from redisson_dq.working.handlers import Handler
from redisson_dq.working.keys import BadKey
from redisson_dq.working.limits import digest_of
from redisson_dq.working.routing import Unroutable, choose

__all__ = ["Admitting", "AdmitArguments"]


@attrs.frozen
class AdmitArguments:
    """The arguments of ``admit.lua`` for the values that were seen in one look.

    ``passed`` are the bytes of values that were seen while their handler had no free slot.
    """

    limits: list[LimitWords]
    seen: list[Seen]
    passed: set[bytes]


class Admitting:
    """The limits of one queue's handlers, and the values that were let past them."""

    def __init__(self, is_passed: Callable[[Handler], bool]) -> None:
        """``is_passed`` says whether a handler has been full for a while, so that others go on."""
        self._is_passed = is_passed
        # The leases of values that were let past a limit. Two fetchers may add to them, when one replaces the other.
        self._let_past: set[str] = set()

    def words(
        self, handlers: Iterable[Handler], seen: Iterable[tuple[bytes, Any, bool]], home: Callable[[str], str] | None
    ) -> AdmitArguments:
        """The script's arguments for values: the bytes, the value, and whether it could be read.

        ``home`` makes the home of a limit's name.
        """
        handlers = list(handlers)
        # Also the limits that no value of this look has: a slot of theirs may be free.
        limits = {
            handler: handler.admission.words_in(home)
            for handler in handlers
            if handler.admission is not None and handler.admission.has_limit and not self._is_passed(handler)
        }
        # The number of each limit in the call, in this order.
        numbers: dict[LimitWords, int] = {}
        for handler, words in limits.items():
            admission = handler.admission
            by_key = admission is not None and admission.is_by_key
            for each in admission.words_of_keys(home) if admission is not None and by_key else (words,):
                numbers.setdefault(each, len(numbers) + 1)
        passed: set[bytes] = set()
        by_keys: dict[tuple[Handler, Sequence[tuple[bytes, str]]], LimitWords] = {}
        made = [
            self._seen(handlers, data, value, limits, numbers, home, passed, by_keys) if is_read else _plain(data)
            for data, value, is_read in seen
        ]
        return AdmitArguments(list(numbers), made, passed)

    def _seen(
        self,
        handlers: list[Handler],
        data: bytes,
        value: Any,
        limits: dict[Handler, LimitWords],
        numbers: dict[LimitWords, int],
        home: Callable[[str], str] | None,
        passed: set[bytes],
        by_keys: dict[tuple[Handler, Sequence[tuple[bytes, str]]], LimitWords],
    ) -> Seen:
        try:
            handler = choose(handlers, value)
            admission = None if handler is None else handler.admission
            if handler is None or admission is None:
                return _plain(data)
            words = limits.get(handler)
            if words is None:
                if admission.has_limit:
                    # It is received only to be parked, and takes neither a token nor a slot.
                    passed.add(data)
                return admission.seen(value, data, 0)
            if admission.is_by_key:
                found = admission.found_in(value, is_secret=key_id_of(data) is not None)
                # Many values of a look have one key.
                if (known := by_keys.get((handler, found))) is None:
                    known = by_keys[handler, found] = admission.words_by(found, home)
                words = known
            return admission.seen(value, data, numbers.setdefault(words, len(numbers) + 1))
        except (Unroutable, BadKey):
            return _plain(data)

    def leased(self, leased: Iterable[Leased], passed: Collection[bytes]) -> None:
        """Values are leased now. ``passed`` are those of the look in which they were seen."""
        self._let_past.update(each.id.hex() for each in leased if each.data in passed)

    def admits(self, id: str) -> bool:
        """Whether the value of a lease may be handled. One that was let past its handler's limit may not."""
        if not self._let_past or id not in self._let_past:
            return True
        self._let_past.discard(id)
        return False


def _plain(data: bytes) -> Seen:
    # A value that cannot be read, or has no handler or no key, is received as it is. Its receiver reports it.
    return Seen(digest=digest_of(data))
