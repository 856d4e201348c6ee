"""The limits that admit a handler's values: a rate, a number of slots, a key, and a unique key.

They hold for all processes together, on the server's clock. Here are the definitions, and their words to Redis for a
value.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import Any

import attrs

from redisson_dq._common.signatures import answers, takes
from redisson_dq._common.texts import shown
from redisson_dq.errors import ArgumentError
from redisson_dq.scheduling.times import Delay, seconds_of, up_to_us
from redisson_dq.wire.calls import LimitWords, Seen
from redisson_dq.working.keys import BadKey, KeyOf, check_by, digest, key_and_words, key_bytes, name_in_context
from redisson_dq.working.naming import full_name

__all__ = ["Admission", "Limit", "Rate", "digest_of"]

# Lua counts in doubles, which are exact up to 2**53.
_LARGEST = 2**52
_MOST_SLOTS = 10_000
# The options that may be by key.
_OPTIONS = "limit= by=", "rate= by=", "turns="
# The length of the text that says what a value waits for.
_LONGEST = 120


@attrs.frozen
class Rate:
    """At most ``limit`` values in ``per`` seconds (or a timedelta), over all processes: a token bucket.

    Tokens come evenly. The bucket holds ``burst`` of them, by default as many as ``limit``, and is full at the start.
    So in any time t at most ``burst + 1 + t * limit / per`` tokens come: while values wait, one more is on its way
    after a full bucket. A value that waits for a token begins right after it.

    Handlers of one function share it, on all their queues. Handlers that give one ``name`` share it too, as in
    ``Rate(10, per=1, name="partner")``.

    ``by="customer.id"`` gives each customer a bucket of its own. It is as that of :class:`Limit`.
    """

    limit: int
    per: Delay = 1
    burst: int | None = None
    name: str | None = attrs.field(default=None, kw_only=True)
    by: KeyOf | None = attrs.field(default=None, kw_only=True)

    def __attrs_post_init__(self) -> None:
        _check_name("rate=", self.name)
        if self.by is not None:
            check_by("rate= by=", self.by)
        for name, number in (("limit", self.limit), ("burst", self.size)):
            if type(number) is not int or number < 1:
                raise ArgumentError(f"rate=: {name}= must be a number from 1 on, not {shown(number)}")
        if self.per_us < 1:
            raise ArgumentError(f"rate=: per= must be a span above zero, not {shown(self.per)}")
        if self.size * self.per_us > _LARGEST or self.limit * self.per_us > _LARGEST:
            raise ArgumentError(
                f"rate=: {shown(self.limit)} in {self.per!r} s, with {shown(self.size)} at once, cannot be counted"
            )

    @property
    def size(self) -> int:
        """How many tokens the bucket holds."""
        return self.limit if self.burst is None else self.burst

    @property
    def per_us(self) -> int:
        """In how many us ``limit`` tokens come."""
        return round(seconds_of(self.per, "rate=: per=") * 1_000_000)


@attrs.frozen
class Limit:
    """At most this many values are handled at a time, over all processes.

    A slot is part of the value's lease and ends with it, so a process that dies holds none. Handlers of one function
    share it, on all their queues, and so do handlers that give one ``name``: ``Limit(4, name="partner")``.

    ``by="customer"`` gives each customer 4 slots. It is a field of the value or a path such as ``"customer.id"``, of an
    object, a dict or a text of JSON; ``"context.customer"`` in the context of the offer; or a function of the value.
    """

    slots: int
    name: str | None = attrs.field(default=None, kw_only=True)
    by: KeyOf | None = attrs.field(default=None, kw_only=True)

    def __attrs_post_init__(self) -> None:
        _check_name("limit=", self.name)
        if self.by is not None:
            check_by("limit= by=", self.by)
        if type(self.slots) is not int or not 1 <= self.slots <= _MOST_SLOTS:
            raise ArgumentError(f"limit=: a number of slots from 1 to {_MOST_SLOTS}, not {shown(self.slots)}")


@attrs.frozen(kw_only=True)
class Admission:
    """The limits of one handler's values. ``name`` is that of its function: rate and slots without a name have it."""

    name: str
    rate: Rate | None = None
    limit: Limit | None = None
    turns: KeyOf | None = None
    key: Callable[[Any], object] | None = None
    unique_for: float | None = None
    unique_by: Callable[[Any], object] | None = None

    @classmethod
    def declared(
        cls,
        what: str,
        name: str,
        *,
        rate: Rate | None,
        limit: Limit | None,
        turns: KeyOf | None,
        key: Callable[[Any], object] | None,
        unique_for: Delay | None,
        unique_by: Callable[[Any], object] | None,
    ) -> Admission | None:
        """None where a handler has no limit, key or ``unique_for=``.

        Raises ArgumentError; ``what`` begins its message.
        """
        if rate is not None and not isinstance(rate, Rate):
            raise ArgumentError(f"{what}: rate= must be a Rate, such as Rate(100, per=1), not {shown(rate)}")
        if limit is not None and not isinstance(limit, Limit):
            raise ArgumentError(f"{what}: limit= must be a Limit, such as Limit(4), not {shown(limit)}")
        if turns is not None:
            check_by(f"{what}: turns=", turns)
            if any(each is not None and each.by not in (None, turns) for each in (limit, rate)):
                raise ArgumentError(f"{what}: turns= is by the same key as limit= and rate=, or they have no by=")
        for option, function in {"key=": key, "unique_by=": unique_by}.items():
            if function is not None and not (callable(function) and takes(function, 1) and answers(function)):
                raise ArgumentError(f"{what}: {option} must be a function of the value, not {shown(function)}")
        if unique_by is not None and unique_for is None:
            raise ArgumentError(f"{what}: unique_by= goes with unique_for=")
        seconds = None if unique_for is None else seconds_of(unique_for, f"{what}: unique_for=")
        if seconds == 0:
            raise ArgumentError(f"{what}: unique_for= is above zero")
        if all(option is None for option in (rate, limit, turns, key, seconds)):
            return None
        return cls(name=name, rate=rate, limit=limit, turns=turns, key=key, unique_for=seconds, unique_by=unique_by)

    @property
    def has_limit(self) -> bool:
        """Whether a value takes a token or a slot, or waits for its turn."""
        return self.rate is not None or self.limit is not None or self.turns is not None

    @property
    def is_by_key(self) -> bool:
        """Whether each key of values has slots or tokens of its own, or turns."""
        return any(by is not None for by in self._keys)

    def words_of(self, value: Any, home: Callable[[str], str] | None, *, is_secret: bool = False) -> LimitWords:
        """The script's arguments for a value's keys. No word of one that is secret is among them. Raises BadKey."""
        return self.words_by(self.found_in(value, is_secret=is_secret), home)

    def found_in(self, value: Any, *, is_secret: bool = False) -> Sequence[tuple[bytes, str]]:
        """The digests and the texts of a value's keys. Raises BadKey."""
        return tuple(_key_of(option, by, value, is_secret) for option, by in zip(_OPTIONS, self._keys, strict=True))

    def words_of_keys(self, home: Callable[[str], str] | None) -> list[LimitWords]:
        """The script's arguments for rate and slots; by key: those by which slots of all keys are filled, and idle keys
        are dropped.
        """
        words = self.words_by([(b"", "")] * 3, home)
        if self.turns is not None or self.limit is None or self.rate is None:
            return [words]
        if self.rate.by is None or self.limit.by == self.rate.by:
            return [words]
        # The key of the one does not show that of the other.
        return [attrs.evolve(words, tokens=0), attrs.evolve(words, slots=0)]

    @property
    def _keys(self) -> tuple[KeyOf | None, ...]:
        return (*(None if limit is None else limit.by for limit in (self.limit, self.rate)), self.turns)

    def words_by(self, found: Sequence[tuple[bytes, str]], home: Callable[[str], str] | None) -> LimitWords:
        """The script's arguments for keys that :meth:`found_in` found. ``home`` makes the home of a limit's name, which
        its queues share; None: they are of only one queue.
        """
        (key, text), (rate_key, rate_text), (turns_key, turns_text) = found
        id, place = self._known(self.limit, home)
        slots = 0 if self.limit is None else self.limit.slots
        by = b""
        if self.is_by_key:
            contexts = [name_in_context(each) for each in self._keys]
            labels = self._label("limit", self.limit, text), self._label("rate", self.rate, rate_text)
            turns = "", ""
            handler = b""
            if self.turns is not None:
                turns = _in_words("turns", f"{contexts[2]}=" if contexts[2] else turns_text), contexts[2]
                handler = digest(f"turns {self.name} by {self.turns if isinstance(self.turns, str) else ''}".encode())
            # A value waits in one line for slots and tokens of its key.
            in_order = "" if self.turns is not None else "id" if self.limit and self.limit.by is not None else "rate"
            texts = "\0".join((*labels, *contexts[:2], *turns, in_order, ""))
            # A text of JSON may have half a pair of surrogates, which Redis cannot be sent.
            by = texts.encode("utf-8", "replace") + handler[:4] + turns_key
        words = LimitWords(id=id + key, home=place, slots=slots, by=by)
        if self.rate is None:
            return words
        rate, rate_place = self._known(self.rate, home)
        return attrs.evolve(
            words,
            rate=rate + rate_key,
            rate_home=rate_place,
            tokens=self.rate.limit,
            per_us=self.rate.per_us,
            size=self.rate.size,
        )

    def _label(self, option: str, limit: Rate | Limit | None, key: str = "") -> str:
        """What a parked value waits for, as operators read it."""
        name = f"{self.name}()" if limit is None or limit.name is None else limit.name
        if limit is None or limit.by is None:
            return f"{option} {name}"
        if in_context := name_in_context(limit.by):
            key = f"{in_context}="
        return _in_words(option, key if limit.name is None else f"{name}, {key}")

    def shares(self, other: Admission) -> list[tuple[Rate | Limit, Rate | Limit]]:
        """The rates and the limits of two handlers that have one name."""
        pairs: list[tuple[Rate | Limit | None, Rate | Limit | None]] = [
            (self.rate, other.rate),
            (self.limit, other.limit),
        ]
        return [
            (mine, theirs)
            for mine, theirs in pairs
            if mine is not None
            and theirs is not None
            and mine.name == theirs.name
            and (mine.name is not None or self.name == other.name)
        ]

    def _known(self, limit: Rate | Limit | None, home: Callable[[str], str] | None) -> tuple[bytes, str]:
        # No function is called "shop.send()", so the names cannot clash.
        name = f"{self.name}()" if limit is None or limit.name is None else limit.name
        text = f"limit {self.name if limit is None or limit.name is None else f'={limit.name}'}"
        if limit is not None and limit.by is not None:
            id = digest(f"{text} by {limit.by if isinstance(limit.by, str) else ''}".encode())[:4]
            return id, "" if home is None else f"by:{home(name)}"
        id = digest(text.encode())
        return id, "" if home is None else home(name)

    def seen(self, value: Any, data: bytes, number: int) -> Seen:
        """The script's arguments for a value. ``number`` is that of its limit. Raises BadKey."""
        unique = b"" if self.unique_for is None else self._unique(value, data)
        # Equal values are handled one at a time. Only when one has ended is it known whether the next is a duplicate.
        key = unique if self.key is None else digest(b"key " + key_bytes(self.key, value, "key="))
        return Seen(
            digest=digest_of(data),
            key=key,
            limit=number if self.has_limit else 0,
            unique=unique,
            unique_us=up_to_us(self.unique_for or 0),
        )

    def fault_of(self, value: Any, data: bytes) -> BadKey | None:
        """Why a value has no key, or None where it has one."""
        try:
            self.seen(value, data, 0)
            self.words_of(value, None)
        except BadKey as error:
            return error
        return None

    def _unique(self, value: Any, data: bytes) -> bytes:
        kind = f"{full_name(type(value))} "
        by = data if self.unique_by is None else key_bytes(self.unique_by, value, "unique_by=")
        return digest(b"unique " + kind.encode() + by)


def digest_of(data: bytes) -> str:
    """The digest of a value's bytes, as the scripts make it."""
    return hashlib.sha1(data, usedforsecurity=False).hexdigest()[:32]


def _check_name(option: str, name: object) -> None:
    if name is not None and not (isinstance(name, str) and name):
        raise ArgumentError(f'{option} name= is a text such as "partner", not {shown(name)}')


def _in_words(option: str, key: str) -> str:
    return f"{option} {key}".replace("\0", " ")[:_LONGEST]


def _key_of(option: str, by: KeyOf | None, value: Any, is_secret: bool) -> tuple[bytes, str]:
    """The digest of a value's key in 12 bytes, and its text. Empty where there is none, or one in the context."""
    if by is None or name_in_context(by):
        return b"", ""
    key, words = key_and_words(by, value, option)
    return digest(b"by " + key)[:12], words.partition("=")[0] if is_secret else words
