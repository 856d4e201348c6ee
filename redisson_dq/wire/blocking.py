"""Sources that calls wait on: the blocking commands that take from lists, as objects.

A :class:`Waitable` names its queues and its sources. A :class:`Source` is a Waitable at one node of the
server. It names the commands that are sent for waiting callers, the meaning of the replies, and how values are put
back. A receiver uses a source in this order, as long as a caller waits:

1. ``look``, where the source has one. It does not block, and the receiver hands out the values that it finds.
2. ``words``, the blocking command, with a timeout for the server.
3. ``behind``, where the source has one. It is sent together with ``words``, and Redis carries it out after them.
4. ``taken``, the values that the blocking reply itself holds. When neither holds a value, the blocking reply only says
  that one is
   there. The receiver then begins with ``look`` again.
5. ``more``, where there is more than that.

Nothing here does any I/O.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import attrs

from redisson_dq.wire import calls, commands
from redisson_dq.wire.commands import SIDES, End
from redisson_dq.wire.keys import QueueKeys, shares_slot
from redisson_dq.wire.request import Request, Word
from redisson_dq.wire.taken import Taken

__all__ = [
    "Move",
    "Pop",
    "PutBack",
    "RoundRobin",
    "Source",
    "Taken",
    "Waitable",
    "put_back",
    "seconds",
]


@attrs.frozen(eq=False)
class PutBack:
    """Values that nobody waits for any more, and the request that returns them to where they came from.

    Without values it is the request that has to follow a take. ``nonce`` names a request that Redis carries out once,
    however often it is sent.
    """

    key: str
    values: list[Taken]
    request: Request[Any]
    nonce: bytes = b""


class Waitable(Protocol):
    """A source, or several at once, that callers of one client wait on together. Equal ones share one receiver."""

    def __hash__(self) -> int: ...

    @property
    def key(self) -> str:
        """The key that names it in errors and logs."""
        ...

    @property
    def sources(self) -> tuple[Source, ...]:
        """Itself, or all of them."""
        ...

    def ends_with(self, key: str) -> bool:
        """Whether its waits end when the last handle of this key is closed."""
        ...

    def leases(self, key: str) -> bool:
        """Whether values of the list with this key are received under a lease."""
        ...


class Source:
    """The commands by which one connection waits for values: a :class:`Waitable` at one node of the server.

    Unless a subclass says something else, it waits on one list, and its blocking command takes the value.
    """

    __slots__ = ()

    @property
    def key(self) -> str:
        raise NotImplementedError

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys of its commands. The first one chooses the node of a cluster."""
        raise NotImplementedError

    @property
    def sources(self) -> tuple[Source, ...]:
        return (self,)

    def ends_with(self, key: str) -> bool:
        return key == self.key

    def leases(self, key: str) -> bool:
        return False

    def length(self) -> Request[int]:
        """How many values a look would find."""
        return commands.length_of(self.key)

    @property
    def sets_aside(self) -> bool:
        """Whether the blocking command may set a value aside, which only a look hands out."""
        return False

    def look(self, count: int) -> Request[list[Taken]] | None:
        """Takes up to this many values at once, sent before anything blocks.

        None: no look is needed before the blocking command. With 0 it returns values that the blocking
        command may have moved for callers who are gone.
        """
        return None

    def words(self, timeout: float) -> tuple[Word, ...]:
        """The blocking command. The server ends it after ``timeout`` seconds; 0 is without an end."""
        raise NotImplementedError

    def behind(self) -> Request[list[Taken]] | None:
        """A repeatable request that takes one value when the blocking command has ended in any way.

        So this costs no extra round trip. None: the blocking command itself takes the value.
        """
        return None

    def taken(self, reply: Any) -> list[Taken]:
        """The values in the reply to the blocking command, when it is not nil."""
        raise NotImplementedError

    def more(self, count: int) -> Request[list[Taken]] | None:
        """Takes up to this many more values, if there are any. None where only the blocking command may take."""
        raise NotImplementedError

    def at_once(self, count: int) -> Request[list[Taken]] | None:
        """Takes up to this many values that are ready, and never blocks. None where only the blocking command takes."""
        return self.more(count)

    def after(self, taken: Sequence[Taken], known: Mapping[str, bytes]) -> PutBack | None:
        """The request that has to follow before these values are handed out. When it fails, they are still handed out.

        ``known`` is as for :meth:`put_back`.
        """
        return None

    def put_back(self, surplus: Sequence[Taken], known: Mapping[str, bytes]) -> list[PutBack]:
        """Returns these values to where they came from. No request is needed where they are safe in Redis.

        ``known`` is, by key, the nonce of the last one that Redis has answered.
        """
        raise NotImplementedError


def seconds(timeout: float) -> str:
    """A timeout as Redis reads it.

    A time that would be rounded to 0, which means no limit, becomes the smallest time above 0.
    """
    return f"{max(timeout, 0.001):.3f}" if timeout else "0"


@attrs.frozen
class Pop(Source):
    """One end of one list, or of the first of several that has a value.

    ``room`` are the keys of a bounded queue. A value that is taken makes room in it, one that goes back takes room.
    """

    keys: tuple[str, ...]  # pyright: ignore[reportIncompatibleMethodOverride]
    end: End
    room: QueueKeys | None = None

    @property
    def key(self) -> str:
        return self.keys[0]

    def words(self, timeout: float) -> tuple[Word, ...]:
        return ("BLPOP" if self.end == "first" else "BRPOP", *self.keys, seconds(timeout))

    def taken(self, reply: list[bytes]) -> list[Taken]:
        return [Taken(key=reply[0].decode(), data=reply[1])]

    def more(self, count: int) -> Request[list[Taken]] | None:
        if len(self.keys) > 1:
            return None
        request = commands.pop_many(self.key, self.end, count)
        return request.then(lambda found: [Taken(key=self.key, data=data) for data in found])

    def after(self, taken: Sequence[Taken], known: Mapping[str, bytes]) -> PutBack | None:
        return None if self.room is None else _makes_room(self.room, taken, known)

    def put_back(self, surplus: Sequence[Taken], known: Mapping[str, bytes]) -> list[PutBack]:
        return put_back(self.end, surplus, known, "" if self.room is None else self.room.ready)


def _makes_room(room: QueueKeys, taken: Sequence[Taken], known: Mapping[str, bytes]) -> PutBack | None:
    """Makes room for those of the values that have left the bounded queue."""
    count, nonce = sum(each.key == room.ready for each in taken), secrets.token_bytes(8)
    if not count:
        return None
    return PutBack(room.ready, [], calls.release(room, nonce, known.get(room.ready, b""), count), nonce)


def put_back(end: End, surplus: Sequence[Taken], known: Mapping[str, bytes], bounded: str = "") -> list[PutBack]:
    """Returns values to the end of their lists that they came from. They take room in the list named ``bounded``."""
    by_key: dict[str, list[Taken]] = {}
    for taken in surplus:
        by_key.setdefault(taken.key, []).append(taken)
    made = []
    for key, values in by_key.items():
        data = [taken.data for taken in values]
        if shares_slot(key):
            nonce, keys = secrets.token_bytes(8), QueueKeys.of(key)
            request = calls.put_back(keys, nonce, known.get(key, b""), end, data, bounded=key == bounded)
            made.append(PutBack(key, values, request, nonce))
        else:
            # No script can have both this list and the key ``returned``.
            made.append(PutBack(key, values, commands.add(key, end, data[::-1])))
    return made


@attrs.frozen
class Move(Source):
    """From one end of a list to an end of another. A value that nobody waits for is safe where it was moved to."""

    source: str
    destination: str
    from_end: End
    to_end: End
    #: As for :class:`Pop`.
    room: QueueKeys | None = None

    @property
    def key(self) -> str:
        return self.source

    @property
    def keys(self) -> tuple[str, ...]:
        return self.source, self.destination

    def words(self, timeout: float) -> tuple[Word, ...]:
        ends = SIDES[self.from_end], SIDES[self.to_end]
        return "BLMOVE", self.source, self.destination, *ends, seconds(timeout)

    def taken(self, reply: bytes) -> list[Taken]:
        return [Taken(key=self.source, data=reply)]

    def more(self, count: int) -> Request[list[Taken]] | None:
        return None

    def at_once(self, count: int) -> Request[list[Taken]]:
        request = commands.move(self.source, self.destination, self.from_end, self.to_end)
        return request.then(lambda found: [] if found is None else self.taken(found))

    def after(self, taken: Sequence[Taken], known: Mapping[str, bytes]) -> PutBack | None:
        return None if self.room is None or self.destination == self.source else _makes_room(self.room, taken, known)

    def put_back(self, surplus: Sequence[Taken], known: Mapping[str, bytes]) -> list[PutBack]:
        return []


@attrs.frozen(cache_hash=True)
class RoundRobin:
    """Several sources in turns. They may live on different nodes."""

    sources: tuple[Source, ...]

    @property
    def key(self) -> str:
        return self.sources[0].key

    def ends_with(self, key: str) -> bool:
        return any(source.ends_with(key) for source in self.sources)

    def leases(self, key: str) -> bool:
        return any(source.leases(key) for source in self.sources)
