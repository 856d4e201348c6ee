"""A source at a shared lookout: callers that come in the middle of a round, and troubles that nobody outlasts."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from redis.exceptions import NoScriptError, ReadOnlyError, ResponseError

from redisson_dq._concurrency import Inbox, Mutex
from redisson_dq._sync.receiving.clerk import Clerk
from redisson_dq._sync.receiving.node_link import collect
from redisson_dq._sync.receiving.put_backs import PutBacks
from redisson_dq.errors import RedisConnectionError
from redisson_dq.observing import Observers
from redisson_dq.observing.outage import Outage
from redisson_dq.scheduling.clock import SYSTEM
from redisson_dq.scheduling.tries import Tries
from redisson_dq.waits.debts import Debts
from redisson_dq.waits.line import Line, Waiter
from redisson_dq.waits.rotation import SharedSources
from redisson_dq.waits.steps import Do
from redisson_dq.waits.watched import State, WatchedSource
from redisson_dq.wire.blocking import Pop
from redisson_dq.wire.envelope import Envelope
from redisson_dq.wire.keys import DeadKeys, LeaseKeys, QueueKeys
from redisson_dq.wire.lease_source import LeaseSource
from redisson_dq.wire.taken import Taken

ORDERS = QueueKeys.of("orders")
READONLY = ReadOnlyError("READONLY You can't write against a read only replica.")


class Answer:
    filled = False
    value: Any = None

    def fill(self, value: Any) -> None:
        self.filled, self.value = True, value


class Place(Clerk):
    """One source, its line, and all that is left to others: calls of the lookout, works of the clerk."""

    def __init__(self, source: Any = None, beside: Place | None = None) -> None:
        """``beside`` is another source of the same line."""
        self.inbox: Inbox[Any] = Inbox(SYSTEM) if beside is None else beside.inbox
        self.line: Line = Line("orders", self.inbox, Mutex()) if beside is None else beside.line
        self.outage = Outage(SYSTEM, Observers())
        connections: Any = SimpleNamespace(
            is_cluster=False,
            clock=SYSTEM,
            tries=Tries(SYSTEM),
            outage=self.outage,
            refresh=lambda: None,
            parsed=lambda request, reply: request.parse(reply),
        )
        self.connections = connections
        super().__init__(connections, connections)
        self.calls = 0
        self.works: list[Callable[[], object]] = []
        self.sources: SharedSources = SharedSources(self.line) if beside is None else beside.sources
        self.debts = Debts()
        source = Pop((ORDERS.ready,), "first") if source is None else source
        backs = PutBacks(connections, source, self.line)
        self.pump = WatchedSource(self.line, source, self.debts, backs, SYSTEM.monotonic, self, lambda: None)
        self.sources.add(self.pump)

    def call(self, pump: WatchedSource) -> None:
        self.calls += 1

    def later(self, work: Callable[[], object], after: float = 0.0) -> None:
        self.works.append(work)

    def collect(self, reply: Any, length: Any) -> None:
        collect(self.connections, self.pump, reply, length)

    def enters(self, seconds: float = math.inf) -> Waiter:
        waiter = Waiter(1, SYSTEM.monotonic() + seconds, Answer(), lambda notice: None)
        self.inbox.put(waiter)
        return waiter

    def round(self, reply: Any = None) -> bool:
        """Whether the source was asked. ``reply`` is Redis's."""
        with self.line.mutex:
            asked = self.sources.ask([self.pump], SYSTEM.monotonic())
        if asked:
            self.collect(reply, None)
            self.sources.settle(asked)
            self.tell_answered(self.pump)
        return bool(asked)


def test_a_caller_that_comes_in_the_middle_of_a_round_is_served_by_the_next() -> None:
    place = Place()
    with place.line.mutex:
        place.pump.wake()
    place.pump.left = 9
    admit = place.line.admit

    def admit_and_one_comes(first: Any = None) -> bool:
        place.line.admit = admit  # type: ignore[method-assign]
        came = admit(first)
        place.enters()
        return came

    place.line.admit = admit_and_one_comes  # type: ignore[method-assign]
    calls = place.calls
    assert not place.round()
    assert place.pump.state is State.CALLED
    assert place.calls == calls + 1
    assert place.round([b"a"])


@pytest.fixture
def three() -> list[Place]:
    """Three sources of one line without waiters, with known values."""
    first = Place()
    places = [first, Place(Pop(("second",), "first"), beside=first), Place(Pop(("third",), "first"), beside=first)]
    for place in places:
        place.pump.left = 9
        place.pump.wake()
    return places


def called_in_turn(places: list[Place]) -> bool:
    pumps = [place.pump for place in places]
    assert [pump.state for pump in pumps] == [State.CALLED] * 3
    return list(places[0].sources.ask(pumps, SYSTEM.monotonic())) == pumps[:1]


def test_a_caller_that_comes_between_two_sources_of_a_round_is_served_in_turn(three: list[Place]) -> None:
    line, given = three[0].line, []
    give = line.give

    def give_and_one_comes(values: list[Taken]) -> list[Taken]:
        given.append(values)
        if len(given) == 2:
            three[0].enters()
        return give(values)

    line.give = give_and_one_comes  # type: ignore[method-assign]
    assert not three[0].sources.ask([place.pump for place in three], SYSTEM.monotonic())
    assert called_in_turn(three)


def test_a_source_alone_that_has_yielded_is_called_again() -> None:
    """Another command had claimed for its line, and no other source frees it."""
    place = Place()
    place.enters()
    with place.line.mutex:
        place.pump.wake()
        place.pump.left = 9
        place.line.admit()
        claimed = place.line.claim(SYSTEM.monotonic())
    assert not place.round()
    assert place.pump.state is State.YIELDED
    with place.line.mutex:
        place.line.unclaim(claimed)
    (work,) = place.works
    work()
    assert place.round([b"a"])


def test_a_trouble_ends_where_nobody_waits_any_more() -> None:
    place = Place()
    waiter = place.enters(seconds=1)
    with place.line.mutex:
        place.pump.wake()
    assert place.round(READONLY)
    place.works.pop(0)()
    assert place.pump.trouble is not None
    place.works.pop(0)()
    assert place.outage.is_going_on
    with place.line.mutex:
        place.line.expire(waiter)
        place.pump.answer_expired()
    assert waiter.answer.filled
    place.works.pop(0)()
    assert not place.round()
    assert place.pump.state is State.RESTING
    assert place.pump.trouble is None
    # Any other part that reaches Redis ends the outage.
    place.outage.ended("another part")
    assert not place.outage.is_going_on


def test_a_source_that_is_refused_lets_nobody_be_told_that_nothing_is_there() -> None:
    """Another source of the line has answered that it is empty. The cause of the refusal is found out first."""
    place = Place()
    other = Place(Pop(("others",), "first"), beside=place)
    pumps, waiter = [place.pump, other.pump], place.enters(seconds=1)
    with place.line.mutex:
        for pump in pumps:
            pump.wake()
        asked = place.sources.ask(pumps, SYSTEM.monotonic())
    assert list(asked) == pumps
    with place.line.mutex:
        place.line.expire(waiter)
    place.collect(None, 0)
    other.collect(None, READONLY)
    place.sources.settle(asked)
    assert place.pump.state is State.WATCHED
    assert not waiter.answer.filled
    other.works.pop(0)()
    assert isinstance(waiter.answer.value, RedisConnectionError)


@pytest.mark.parametrize(("error", "is_owed"), [(READONLY, True), (ResponseError("ERR no such command"), False)])
def test_a_request_with_a_lost_reply_is_owed_until_redis_refuses_it_for_good(
    error: ResponseError, is_owed: bool
) -> None:
    keys = LeaseKeys(queue=ORDERS, dead=DeadKeys.belonging_to(ORDERS.ready))
    source = LeaseSource(lease_keys=keys, envelope=Envelope.CURRENT, visible_us=30_000_000, limit=0)
    place = Place(source)
    request = source.look(1)
    assert request is not None
    place.debts.owe(request)
    with place.line.mutex:
        place.pump.wake()
    assert place.round(error)
    assert (request in place.debts.requests) is is_owed


def watched(place: Place) -> Waiter:
    """A caller waits, and Redis watches the key."""
    waiter = place.enters()
    with place.line.mutex:
        place.pump.wake()
        asked = place.sources.ask([place.pump], SYSTEM.monotonic())
    place.collect([], 0)
    place.sources.settle(asked)
    assert place.pump.state is State.WATCHED
    return waiter


def test_a_source_that_redis_refused_for_a_while_is_watched_again() -> None:
    """Its key may live on another node now."""
    place = Place()
    waiter = watched(place)
    with place.line.mutex:
        place.line.expire(waiter)
        place.pump.answer_expired()
    assert place.round(READONLY)
    place.enters()
    while place.pump.state is State.BUSY:
        place.works.pop(0)()
    with place.line.mutex:
        place.sources.ask([place.pump], SYSTEM.monotonic())
    assert place.pump.commands.watches


def test_a_value_that_goes_back_while_its_source_is_asked_goes_back_behind_that() -> None:
    place = Place()
    waiter = watched(place)
    with place.line.mutex:
        place.pump.changes(None)
        asked = place.sources.ask([place.pump], SYSTEM.monotonic())
        place.line.leave(waiter)
        place.pump.put_away([Taken(key=ORDERS.ready, data=b"a")])
    place.collect([], 0)
    place.sources.settle(asked)
    assert not place.round()
    assert place.pump.step is Do.PUT_BACK


def test_a_value_on_its_way_back_is_for_a_caller_that_comes() -> None:
    place = Place()
    waiter = place.enters()
    with place.line.mutex:
        place.pump.put_away([Taken(key=ORDERS.ready, data=b"a")])
    assert not place.round()
    assert [each.data for each in waiter.given] == [b"a"]
    assert place.works == []


def leasing() -> Place:
    return Place(
        LeaseSource(
            lease_keys=LeaseKeys(queue=ORDERS, dead=DeadKeys.belonging_to(ORDERS.ready)),
            envelope=Envelope.CURRENT,
            visible_us=30_000_000,
            limit=0,
        )
    )


def test_a_script_that_the_server_does_not_know_tells_nothing_of_what_is_left() -> None:
    place = leasing()
    place.enters()
    with place.line.mutex:
        place.pump.wake()
        place.pump.is_key_watched = True
    assert place.round(NoScriptError("NOSCRIPT No matching script."))
    assert place.calls == 2
    assert place.round([0, 0, [], 0])
    assert place.pump.state is State.WATCHED


def test_a_request_that_has_not_run_is_owed_though_redis_refuses_to_watch() -> None:
    """Values may have been leased when it was sent before. Forgotten, they would come at the end of their leases."""
    place = leasing()
    request = place.pump.source.at_once(1)
    assert request is not None
    place.debts.owe(request)
    with place.line.mutex:
        place.pump.wake()
        asked = place.sources.ask([place.pump], SYSTEM.monotonic())
    place.collect(NoScriptError("NOSCRIPT No matching script."), ResponseError("ERR unknown subcommand 'CACHING'"))
    place.sources.settle(asked)
    assert place.debts.first is request
