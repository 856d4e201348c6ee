"""One exchange with Redis, described and not yet sent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar, Union

import attrs

from redisson_dq.durability import Durability, strongest
from redisson_dq.errors import EncodeError
from redisson_dq.scheduling.times import Left
from redisson_dq.scripts.script import Script

__all__ = ["Fence", "OtherTypes", "Request", "Word", "durability_of", "packed"]

T = TypeVar("T")
U = TypeVar("U")
Word = Union[str, bytes, int, Left]


@attrs.frozen(kw_only=True)
class Fence:
    """A lease that has to be held, or the transaction that the request is in does nothing.

    ``hold`` makes the request that asks. Its arguments are the key that is as long as all leases of the transaction are
    held, and whether it is the first of them. Its result is whether this lease is held. ``lost`` is the result of the
    request where the lease is not held.
    """

    key: str
    hold: Callable[[str, bool], Request[bool]]
    lost: Any


@attrs.frozen(kw_only=True)
class OtherTypes:
    """How to find values that are equal to those of a request in Python, and of another type in Java.

    The result of each lookup is the errors for those that are there. They are sent ``before`` a request that would
    do harm, and else after one whose result is ``false``. With ``partly`` a request may also have found some values and
    not others: then the errors are only warnings. ``offered``, of a request that offers a value, gives a name of its
    bytes, and by the names of equal values of another type the errors for these: a pipeline compares its offers.
    """

    lookups: Callable[[], list[Request[list[EncodeError]]]]
    before: bool = False
    partly: bool = False
    offered: Callable[[], tuple[str, dict[str, EncodeError]]] | None = None


@attrs.frozen(kw_only=True)
class Request(Generic[T]):
    """A command or a script call.

    ``words`` are the command's words. For a script call they are the words after the script: number of keys, keys,
    arguments. ``types`` maps each key to the Redis type it has to have. The first key routes the request. ``parse``
    turns the reply into the result. ``aside`` is the list that receives popped values the codec cannot decode, when
    ``parse`` raises DecodeError. A ``repeatable`` request may be sent again, word for word, when its reply was lost.
    The second reply then equals the first one. ``when_full`` is sent instead when Redis has refused the request because
    it has reached its maxmemory. ``durable`` names the confirmation that the change needs before the result is
    returned. ``fence`` makes the lease without which nothing of a transaction that has this request is done. The
    functions of ``on_sending`` are called before the request is sent. ``others``, of a request that compares values,
    looks for values that are equal in Python and of another type in Java.
    """

    words: tuple[Word, ...]
    types: dict[str, str]
    parse: Callable[[Any], T]
    script: Script | None = None
    aside: str | None = None
    repeatable: bool = False
    when_full: Request[T] | None = None
    durable: Durability | None = None
    fence: Callable[[], Fence] | None = None
    on_sending: tuple[Callable[[], None], ...] = ()
    others: OtherTypes | None = None

    def then(
        self,
        convert: Callable[[T], U],
        *,
        aside: str | None = None,
        fence: Callable[[], Fence] | None = None,
        on_sending: Callable[[], None] | None = None,
        durable: Durability | None = None,
    ) -> Request[U]:
        """Converts the result of an exchange. ``durable`` is as for :meth:`durably`."""
        parse = self.parse
        return Request(
            words=self.words,
            types=self.types,
            parse=lambda reply: convert(parse(reply)),
            script=self.script,
            aside=aside or self.aside,
            repeatable=self.repeatable,
            when_full=None if self.when_full is None else self.when_full.then(convert, aside=aside, durable=durable),
            durable=durable or self.durable,
            fence=fence or self.fence,
            on_sending=self.on_sending if on_sending is None else (*self.on_sending, on_sending),
            others=self.others,
        )

    def durably(self, durable: Durability | None) -> Request[T]:
        """Confirms the change of an exchange before its result is returned."""
        if durable is None:
            return self
        when_full = None if self.when_full is None else self.when_full.durably(durable)
        return attrs.evolve(self, durable=durable, when_full=when_full)

    @property
    def name(self) -> str:
        """The name that errors and observers use for it: that of its script, or else the command."""
        return str(self.words[0]) if self.script is None else self.script.name

    @property
    def key(self) -> str:
        """The key that decides which node of a cluster gets the request."""
        return next(iter(self.types))

    @property
    def keys(self) -> tuple[str, ...]:
        """All keys that it is about. A request to the server as a whole has none."""
        return tuple(filter(None, self.types))


def packed(requests: Iterable[Request[Any]], *, only_looks: bool = False, in_order: bool) -> Iterator[tuple[Any, ...]]:
    """The commands. ``in_order``: the first call of a script carries its text, so the server knows the script for the
    other calls. Otherwise none does, and the server may answer that it does not know a script.

    With ``only_looks`` scripts that only read are called by commands for users who may not write.
    """
    known: set[str] = set()
    for request in requests:
        script = request.script
        if script is None:
            yield request.words
            continue
        suffix = "_RO" if only_looks and script.only_reads else ""
        if script.sha in known or not in_order:
            yield (f"EVALSHA{suffix}", script.sha, *request.words)
        else:
            known.add(script.sha)
            yield (f"EVAL{suffix}", script.source, *request.words)


def durability_of(requests: Iterable[Request[Any]]) -> Durability | None:
    """The confirmation that they need together."""
    return strongest(request.durable for request in requests)
