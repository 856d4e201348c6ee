"""Several lines at two lookouts of different nodes, over a Redis that consists of a few fields.

The receivers and their watched sources are the real ones. :class:`World` takes the place of the lookouts,
the clerks and Redis: it carries out one step of theirs at a time. Rounds begin and stand still, connections are cut,
keys move to the other node, requests are refused, and callers come and leave between any two steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from types import SimpleNamespace
from typing import Any

import attrs
from redis.exceptions import MovedError, ReadOnlyError

from redisson_dq._concurrency import Inbox
from redisson_dq._sync.receiving.clerk import Clerk
from redisson_dq._sync.receiving.node_link import collect
from redisson_dq._sync.receiving.receiver import Receiver
from redisson_dq._sync.receiving.round_robin import RoundRobinReceiver
from redisson_dq.errors import RedisConnectionError
from redisson_dq.observing import Observers
from redisson_dq.observing.outage import Outage
from redisson_dq.scheduling.clock import SYSTEM
from redisson_dq.scheduling.tries import Tries
from redisson_dq.waits.line import Farewell, Lifeline, Waiter
from redisson_dq.waits.rotation import CalledSources
from redisson_dq.waits.watched import WatchedSource
from redisson_dq.wire import blocking
from redisson_dq.wire.blocking import PutBack
from redisson_dq.wire.request import Request
from redisson_dq.wire.taken import Taken
from tests.unit.waits.walking import Broken

__all__ = ["World"]

Event = tuple[Any, ...]


@attrs.frozen
class Source(blocking.Source):
    """One list. Its requests are words that :class:`World` knows."""

    name: str
    leases_values: bool = False

    @property
    def key(self) -> str:
        return self.name

    @property
    def keys(self) -> tuple[str, ...]:
        return (self.name,)

    def at_once(self, count: int) -> Request[list[Taken]] | None:
        words = ("TAKE", self.name, count)
        return Request(words=words, types={self.name: "list"}, parse=self._parsed, repeatable=self.leases_values)

    def _parsed(self, reply: list[bytes]) -> list[Taken]:
        return [Taken(key=self.name, data=data) for data in reply]

    def put_back(self, surplus: Any, known: Any) -> list[PutBack]:
        data = [taken.data for taken in surplus]
        words, types = ("BACK", *data), {self.name: "list"}
        request = Request[None](words=words, types=types, parse=lambda reply: None, repeatable=True)
        return [PutBack(self.name, list(surplus), request)]


class Time:
    """A clock that advances when a pause is over. No wait depends on it."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now

    def __getattr__(self, name: str) -> Any:
        return getattr(SYSTEM, name)


class Answer:
    """The answer to one caller."""

    filled = False
    value: Any = None

    def fill(self, value: Any) -> None:
        self.filled, self.value = True, value


@attrs.define(eq=False)
class Caller:
    """One caller, the values it holds, and its outcome."""

    receiver: Receiver
    lifeline: Lifeline
    answer: Answer
    is_over: bool = False
    has_left: bool = False
    #: After how many events it was known that its time is over.
    over_at: int = 0

    @property
    def waits(self) -> bool:
        return not (self.answer.filled or self.has_left)

    @property
    def values(self) -> list[bytes]:
        has_values = self.answer.filled and isinstance(self.answer.value, list) and not self.has_left
        return [taken.data for taken in self.answer.value] if has_values else []


@attrs.define(eq=False)
class Asked:
    """The pending commands for one source, and the replies of Redis."""

    pump: WatchedSource
    commands: Any
    reply: Any = None
    length: Any = None
    is_carried_out: bool = False
    is_read: bool = False


class Lookout:
    """The lookout of one node, in single steps."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.sources = CalledSources()
        #: Sources that were called, and keys that have changed.
        self.bell: list[Any] = []
        self.is_open = False
        self.watched: set[str] = set()
        #: By line, the sources that are asked in this round.
        self.round: dict[Any, list[Asked]] = {}
        #: After how many events its round began.
        self.began_at = 0
        #: Where each key lived when it looked last.
        self.homes: dict[str, int] = {}
        #: Whether a look in this round has shown that keys have moved.
        self.have_moved = False

    def hang_up(self) -> None:
        raise AssertionError("nobody hangs up here")


class Lookouts(Clerk):
    """The lookouts and clerks, in single steps."""

    def __init__(self, connections: Any, world: World) -> None:
        super().__init__(connections, connections)
        self.call, self.later = world.call, world.later  # type: ignore[method-assign]


class World:
    """Two lines: one of three sources, one of a single source."""

    def __init__(self, *, leases: bool) -> None:
        self.time = Time()
        self.leases = leases
        connections: Any = SimpleNamespace(
            is_cluster=False,
            clock=self.time,
            outage=Outage(SYSTEM, Observers()),
            tries=Tries(SYSTEM),
            refresh=lambda: None,
            run=self._run,
            parsed=lambda request, reply: request.parse(reply),
        )
        self.clerk, self.connections = Lookouts(connections, self), connections
        self.notices: Inbox[Any] = Inbox(SYSTEM)
        self.works: list[Callable[[], object]] = []
        self.pauses: list[tuple[float, Callable[[], object]]] = []
        self.names = ("a", "b", "c", "d")
        self.lists: dict[str, list[bytes]] = {name: [] for name in self.names}
        self.homes = dict.fromkeys(self.names, 0) | {"b": 1}
        self.lookouts = (Lookout(0), Lookout(1))
        sources = [Source(name, leases) for name in self.names]
        self.receivers: list[Receiver] = [
            RoundRobinReceiver(connections, self.notices, sources[:3], self.clerk),  # type: ignore[arg-type]
            Receiver(connections, self.notices, sources[3:], self.clerk),  # type: ignore[arg-type]
        ]
        self.callers: list[Caller] = []
        self.pushed = self.happened = 0
        self.lost: list[bytes] = []
        #: Requests that may be sent again, and the values that they have taken.
        self.taken_by: dict[int, tuple[Any, list[bytes]]] = {}
        self.refuses = 0

    # -- the clerks, and Redis where they ask it ---------------------------------------------------------------------

    def call(self, pump: WatchedSource, /) -> None:
        if isinstance(pump.lookout, Lookout):
            pump.lookout.bell.append(pump)
        else:
            self.works.append(partial(self._find, pump))

    def later(self, work: Callable[[], object], after: float = 0.0) -> None:
        if after:
            self.pauses.append((self.time.now + after, work))
        else:
            self.works.append(work)

    def _find(self, pump: WatchedSource) -> None:
        with pump.line.mutex:
            if pump.line.closed:
                pump.leave()
                return
            lookout = self.lookouts[self.homes[pump.source.key]]
            pump.lookout, pump.is_new = lookout, True
        lookout.bell.append(pump)

    def _run(self, request: Request[Any], *, when_closed: bool = False) -> Any:
        if self.refuses:
            self.refuses -= 1
            raise RedisConnectionError("Redis is away")
        return request.parse(self._carried_out(request))

    def _carried_out(self, request: Request[Any]) -> Any:
        word, *rest = request.words
        key = request.key
        if word == "BACK":
            self.lists[key] = [*rest, *self.lists[key]]  # type: ignore[list-item]
            self._changes(key)
            return None
        if id(request) in self.taken_by:
            return self.taken_by[id(request)][1]
        count = int(rest[1])  # type: ignore[arg-type]
        taken, self.lists[key] = self.lists[key][:count], self.lists[key][count:]
        if taken:
            self._changes(key)
        if self.leases:
            # The request is kept, so its id belongs to no other one.
            self.taken_by[id(request)] = (request, taken)
        return taken

    def _changes(self, key: str) -> None:
        """The node of the key notifies of a change."""
        for lookout in self.lookouts:
            if key in lookout.watched and lookout.number == self.homes[key]:
                lookout.watched.discard(key)
                lookout.bell.append(key)

    # -- what may happen ---------------------------------------------------------------------------------------------

    def events(self) -> Iterator[Event]:
        """The events that may happen now."""
        yield from self.own_events()
        for name in self.names:
            yield "push", name
            yield "moves", name
        for number, receiver in enumerate(self.receivers):
            if not receiver.line.closed:
                yield "enters", number, 1
                yield "enters", number, 3
        for caller in self.callers:
            if caller.waits and not caller.is_over:
                yield "is over", caller
            if not caller.has_left:
                yield "leaves", caller
            if caller.values and caller.lifeline.waiter is not None:
                yield "keeps", caller
        for lookout in self.lookouts:
            if lookout.is_open:
                yield "is cut", lookout, True
                yield "is cut", lookout, False
            for key in sorted(lookout.watched):
                yield "evicts", lookout, key
            if any(not each.is_carried_out for each in self._asked(lookout)):
                yield "refuses", lookout
        yield ("refuses the clerk",)

    def own_events(self) -> Iterator[Event]:
        """All that happens without anybody else."""
        if self.notices.count:
            yield ("sees a notice",)
        if self.works:
            yield ("works",)
        for lookout in self.lookouts:
            if lookout.round:
                if any(not each.is_carried_out for each in self._asked(lookout)):
                    yield "carries out", lookout
                if any(each.is_carried_out and not each.is_read for each in self._asked(lookout)):
                    yield "reads", lookout
                continue
            if lookout.bell:
                yield "notes", lookout
            elif lookout.sources.are_waiting:
                yield "begins", lookout
            elif lookout.is_open and lookout.homes != self.homes:
                yield "ticks", lookout
        if self.pauses:
            yield ("pauses",)

    def happen(self, event: Event) -> None:
        self.happened += 1
        getattr(self, "_" + event[0].replace(" ", "_"))(*event[1:])

    @staticmethod
    def _asked(lookout: Lookout) -> list[Asked]:
        return [each for of_line in lookout.round.values() for each in of_line]

    # .. callers .......................................................................................................

    def _push(self, name: str) -> None:
        self.lists[name].append(b"%d" % self.pushed)
        self.pushed += 1
        self._changes(name)

    def _enters(self, number: int, limit: int) -> None:
        caller = Caller(self.receivers[number], Lifeline(), Answer())
        caller.receiver.enter(limit, caller.lifeline, caller.answer)
        self.callers.append(caller)

    def _is_over(self, caller: Caller) -> None:
        caller.is_over, waiter = True, caller.lifeline.waiter
        assert waiter is not None

        def expire() -> None:
            caller.over_at = self.happened
            caller.receiver.expire(waiter)

        self.notices.put(expire)

    def _leaves(self, caller: Caller) -> None:
        caller.has_left = True
        caller.lifeline.let_go()

    def _keeps(self, caller: Caller) -> None:
        caller.lifeline.keep()
        caller.lifeline.waiter = None
        self.callers.remove(caller)
        self.lost += caller.values

    def _sees_a_notice(self) -> None:
        notice: Any = self.notices.poll()
        waiter = notice.waiter if isinstance(notice, Farewell) else notice
        if isinstance(waiter, Waiter):
            waiter.owner.gone(waiter)
        else:
            waiter()

    # .. the clerks ....................................................................................................

    def _works(self) -> None:
        self.works.pop(0)()

    def _pauses(self) -> None:
        at, work = min(self.pauses, key=lambda each: each[0])
        self.pauses.remove((at, work))
        self.time.now = max(self.time.now, at)
        work()

    def _refuses_the_clerk(self) -> None:
        self.refuses = min(2, self.refuses + 1)

    # .. the lookouts ..................................................................................................

    def _notes(self, lookout: Lookout) -> None:
        event = lookout.bell.pop(0)
        if isinstance(event, WatchedSource):
            if event.lookout is lookout:
                lookout.sources.add(event)
            return
        for pump in lookout.sources.of(event.encode()):
            with pump.line.mutex:
                pump.changes(lookout)

    def _begins(self, lookout: Lookout) -> None:
        if not lookout.is_open:
            lookout.is_open, lookout.homes = True, dict(self.homes)
        called, lookout.began_at = lookout.sources.take_next(), self.happened
        for sources in dict.fromkeys(pump.sources for pump in called):
            with sources.line.mutex:
                if pumps := sources.ask(called, self.time.now):
                    lookout.round[sources] = [Asked(pump, pump.commands) for pump in pumps]

    def _carries_out(self, lookout: Lookout) -> None:
        asked = next(each for each in self._asked(lookout) if not each.is_carried_out)
        asked.is_carried_out = True
        key, commands = asked.pump.source.key, asked.commands
        if asked.pump.is_new:
            asked.pump.is_new = False
            # The look goes in one piece with the commands.
            lookout.have_moved |= lookout.homes != self.homes
            lookout.homes = dict(self.homes)
        moved = MovedError("1 127.0.0.1:1") if self.homes[key] != lookout.number else None
        if commands.request is not None:
            asked.reply = moved or self._carried_out(commands.request)
        if commands.watches:
            asked.length = moved or len(self.lists[key])
            if moved is None:
                lookout.watched.add(key)

    def _refuses(self, lookout: Lookout) -> None:
        asked = next(each for each in self._asked(lookout) if not each.is_carried_out)
        asked.is_carried_out = True
        refusal = ReadOnlyError("READONLY You can't write against a read only replica.")
        asked.reply = refusal if asked.commands.request is not None else None
        asked.length = refusal if asked.commands.watches else None

    def _reads(self, lookout: Lookout) -> None:
        sources, of_line = next(
            (sources, of_line)
            for sources, of_line in lookout.round.items()
            if any(not each.is_read for each in of_line)
        )
        asked = next(each for each in of_line if not each.is_read)
        if not asked.is_carried_out:
            return
        if asked.pump.commands is not asked.commands:
            raise Broken("a reply comes for commands that nobody knows any more")
        collect(self.connections, asked.pump, asked.reply, asked.length)
        asked.is_read = True
        if all(each.is_read for each in of_line):
            self._settles(lookout, sources, of_line)
        if all(each.is_read for each in self._asked(lookout)):
            ended, lookout.round = lookout.round, {}
            for each in ended:
                each.free()
            if lookout.have_moved:
                self._ticks(lookout)

    def _settles(self, lookout: Lookout, sources: Any, of_line: list[Asked]) -> None:
        waiting = [caller for caller in self.callers if caller.waits]
        sources.settle([each.pump for each in of_line])
        for each in of_line:
            self.clerk.tell_answered(each.pump)
        told = [caller for caller in waiting if caller.answer.filled and caller.answer.value == []]
        if told and any(isinstance(each.length, int) and each.length for each in of_line):
            raise Broken("a reply says that values are left, and a caller is told that nothing is there")
        if any(caller.over_at > lookout.began_at for caller in told):
            raise Broken("no command was sent after the time of a caller was over")

    def _ticks(self, lookout: Lookout) -> None:
        for pump in lookout.sources.of(None):
            if pump.lookout is not lookout:
                lookout.sources.forget(pump)
        lookout.homes, lookout.have_moved = dict(self.homes), False
        self._forget_watches(lookout)

    def _is_cut(self, lookout: Lookout, is_long: bool) -> None:
        for asked in self._asked(lookout):
            if asked.is_carried_out and not asked.is_read and not self.leases and isinstance(asked.reply, list):
                self.lost += asked.reply
        ended, lookout.round = lookout.round, {}
        for each in ended:
            each.free()
        lookout.is_open = lookout.have_moved = False
        lookout.watched.clear()
        if is_long:
            for pump in lookout.sources.of(None):
                with pump.line.mutex:
                    if pump.lookout is lookout and pump.line.count:
                        pump.suffer(RedisConnectionError("Redis cannot be reached", maybe_done=pump.may_have_taken))
        self._forget_watches(lookout)

    def _forget_watches(self, lookout: Lookout) -> None:
        for pump in lookout.sources.forget_all():
            with pump.line.mutex:
                pump.lose_at(lookout)
            pump.sources.free()

    # .. Redis .........................................................................................................

    def _evicts(self, lookout: Lookout, key: str) -> None:
        lookout.watched.discard(key)
        lookout.bell.append(key)

    def _moves(self, name: str) -> None:
        """A node does not notify that an empty list has left. It remembers the watch, even when the key comes back."""
        if self.lists[name]:
            self._changes(name)
        self.homes[name] = 1 - self.homes[name]
        if self.lists[name]:
            self._changes(name)

    # -- the promises ------------------------------------------------------------------------------------------------

    def come_to_rest(self) -> None:
        """Everything that goes on comes to an end, and the promises hold then."""
        for _ in range(3000):
            event = next(self.own_events(), None)
            if event is None:
                break
            self.happen(event)
        else:
            raise Broken(f"it does not come to rest: {event}")
        given = [value for caller in self.callers for value in caller.values]
        places = [*given, *self.lost, *(value for values in self.lists.values() for value in values)]
        if sorted(places) != sorted(b"%d" % number for number in range(self.pushed)):
            raise Broken(f"values are lost, or there twice: {places}")
        for caller in self.callers:
            if caller.waits and caller.is_over:
                raise Broken("the time of a caller is over, and nobody tells it")
            if caller.waits:
                self._check_wait(caller.receiver)

    def _check_wait(self, receiver: Receiver) -> None:
        names = self.names[:3] if receiver is self.receivers[0] else self.names[3:]
        for name in names:
            if self.lists[name]:
                raise Broken("somebody waits beside ready values")
            if name not in self.lookouts[self.homes[name]].watched:
                raise Broken("somebody waits, and Redis does not watch")
