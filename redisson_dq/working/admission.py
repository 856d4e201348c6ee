"""Which of the values that were seen in a queue may be leased: the arguments of ``admit.lua`` for them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Union

import attrs

from redisson_dq.codecs.encrypted import key_id_of
from redisson_dq.wire.calls import LimitWords, Seen
from redisson_dq.wire.leases import Leased
from redisson_dq.working.handlers import Handler
from redisson_dq.working.keys import BadKey
from redisson_dq.working.limits import digest_of
from redisson_dq.working.routing import Unroutable, choose

__all__ = ["Admitting", "AdmitArguments"]

#: Reads values, and has an error where it cannot.
_Decoded = Callable[[list[bytes]], tuple[list[Any], Union[Exception, None]]]
#: Makes the home of a limit's name.
_Home = Callable[[str], str]


@attrs.frozen
class AdmitArguments:
    """The arguments of ``admit.lua`` for the values that were seen in one look.

    ``passed`` are the bytes of values that were seen while their handler had no free slot.
    """

    limits: list[LimitWords]
    seen: list[Seen]
    passed: set[bytes]


@attrs.frozen
class _SeenBefore:
    """What a value's bytes decide: its handler, the words of its keys where limits are by key, and all of ``seen`` but
    the number of its limit.
    """

    handler: Handler
    words: LimitWords | None
    seen: Seen

    def numbered(self, number: int) -> Seen:
        """The script's arguments, where its limit has this number in the call."""
        seen = self.seen
        return Seen(digest=seen.digest, key=seen.key, limit=number, unique=seen.unique, unique_us=seen.unique_us)


class Admitting:
    """The limits of one queue's handlers, and the values that were let past them."""

    def __init__(self, is_passed: Callable[[Handler], bool]) -> None:
        """``is_passed`` says whether a handler has been full for a while, so that others go on."""
        self._is_passed = is_passed
        # The leases of values that were let past a limit. Two fetchers may add to them, when one replaces the other.
        self._let_past: set[str] = set()
        # By list: the handlers of the last look, and its values by their digests. The next look sees most of these too.
        self._last: dict[str, tuple[Sequence[Handler], Mapping[str, _SeenBefore]]] = {}

    def limits(self, handlers: Iterable[Handler], home: _Home | None) -> list[LimitWords]:
        """All limits of the handlers, for a call without values. ``home`` makes the home of a limit's name."""
        return _together(self._open(handlers, home))

    def words(
        self, key: str, handlers: Sequence[Handler], seen: Iterable[bytes], decoded: _Decoded, home: _Home | None
    ) -> AdmitArguments:
        """The script's arguments for the values that were seen in a list. ``decoded`` reads bytes.

        Values of the last look are not read again, and their functions for keys are not called again.
        """
        limits = self._open(handlers, home)
        # Also the limits that no value of this look has: a slot of theirs may be free.
        numbers = {words: number for number, words in enumerate(_together(limits), 1)}
        chosen_by, last = self._last.get(key, ((), {}))
        if chosen_by is not handlers:
            last = {}
        known: dict[str, _SeenBefore] = {}
        by_keys: dict[tuple[Handler, Sequence[tuple[bytes, str]]], LimitWords] = {}
        passed: set[bytes] = set()
        made: list[Seen] = []
        for data in dict.fromkeys(seen):
            # A digest holds less memory than the bytes, and nothing of the value.
            digest = digest_of(data)
            found = last.get(digest) or _known(handlers, data, decoded, home, by_keys)
            if found is None:
                # Its receiver reports it.
                made.append(Seen(digest=digest))
                continue
            known[digest] = found
            words, number = limits.get(found.handler), 0
            if words is not None:
                number = numbers.setdefault(found.words or words[0], len(numbers) + 1)
            elif found.handler.admission is not None and found.handler.admission.has_limit:
                # It is received only to be parked, and takes neither a token nor a slot.
                passed.add(data)
            made.append(found.numbered(number) if number else found.seen)
        # A ``when=`` may answer otherwise the next time.
        self._last[key] = handlers, {} if any(handler.when for handler in handlers) else known
        return AdmitArguments(list(numbers), made, passed)

    def _open(self, handlers: Iterable[Handler], home: _Home | None) -> dict[Handler, list[LimitWords]]:
        """The words of the handlers that have a limit, but for those that are full."""
        return {
            handler: handler.admission.words_of_keys(home)
            for handler in handlers
            if handler.admission is not None and handler.admission.has_limit and not self._is_passed(handler)
        }

    def leased(self, leased: Iterable[Leased], passed: Collection[bytes]) -> None:
        """Values are leased now. ``passed`` are those of the look in which they were seen."""
        self._let_past.update(each.id.hex() for each in leased if each.data in passed)

    def admits(self, id: str) -> bool:
        """Whether the value of a lease may be handled. One that was let past its handler's limit may not."""
        if not self._let_past or id not in self._let_past:
            return True
        self._let_past.discard(id)
        return False


def _together(limits: Mapping[Handler, list[LimitWords]]) -> list[LimitWords]:
    return list(dict.fromkeys(each for words in limits.values() for each in words))


def _known(
    handlers: Sequence[Handler],
    data: bytes,
    decoded: _Decoded,
    home: _Home | None,
    by_keys: dict[tuple[Handler, Sequence[tuple[bytes, str]]], LimitWords],
) -> _SeenBefore | None:
    """None for a value that cannot be read, or has no handler or no key. It is received as it is."""
    values, error = decoded([data])
    if error is not None:
        return None
    try:
        handler = choose(handlers, value := values[0])
        if handler is None:
            return None
        admission, words = handler.admission, None
        if admission is None:
            return _SeenBefore(handler, None, Seen(digest=digest_of(data)))
        if admission.is_by_key:
            found = admission.found_in(value, is_secret=key_id_of(data) is not None)
            # Many values of a look have one key.
            if (words := by_keys.get((handler, found))) is None:
                words = by_keys[handler, found] = admission.words_by(found, home)
        return _SeenBefore(handler, words, admission.seen(value, data, 0))
    except (Unroutable, BadKey):
        return None
