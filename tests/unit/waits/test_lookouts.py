"""The work beside the lookouts: what waits for a node that stands still holds up no pause. No server is asked."""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from types import SimpleNamespace
from typing import Any

import pytest
import redis

from redisson_dq import Client
from redisson_dq._concurrency import Inbox, Mutex
from redisson_dq._sync.receiving.beginning import Beginner
from redisson_dq._sync.receiving.lookout import Lookout
from redisson_dq._sync.receiving.lookouts import Lookouts
from redisson_dq._sync.receiving.pump import Pump
from redisson_dq._sync.receiving.put_backs import PutBacks
from redisson_dq.waits.debts import Debts
from redisson_dq.waits.line import Line
from redisson_dq.waits.rotation import SharedSources
from redisson_dq.waits.watched import WatchedSource
from redisson_dq.wire.blocking import Pop, RoundRobin
from tests.conftest import PATIENCE, eventually


def watched(connections: Any, name: str, sources: SharedSources, lookouts: Any) -> WatchedSource:
    """One source of a line."""
    source = Pop((name,), "first")
    backs, clock = PutBacks(connections, source, sources.line), connections.clock.monotonic
    made = WatchedSource(sources.line, source, Debts(), backs, clock, lookouts, lambda: None)
    sources.add(made)
    return made


def test_a_pause_ends_in_its_time_while_a_node_stands_still() -> None:
    connections = Client(redis.Redis()).runtime.connections
    lookouts = Lookouts(connections, Beginner(connections.clock, lambda notice: None))
    hangs, answers, is_over = threading.Event(), threading.Event(), threading.Event()

    def put_back() -> None:
        hangs.set()
        answers.wait(PATIENCE)

    lookouts.later(put_back)
    assert hangs.wait(PATIENCE)
    lookouts.later(is_over.set, 0.01)
    assert is_over.wait(PATIENCE / 2)
    answers.set()
    lookouts.close()


def test_a_lookout_leaves_an_outage_before_its_next_task_may_report_another(monkeypatch: pytest.MonkeyPatch) -> None:
    connections = Client(redis.Redis()).runtime.connections
    nothing: Any = SimpleNamespace(key=b"orders")
    lookout = Lookout(connections, nothing, Beginner(connections.clock, lambda notice: None), lambda error: None)
    is_running: list[bool] = []
    monkeypatch.setattr(connections.outage, "gave_up", lambda part: is_running.append(vars(lookout)["_is_running"]))
    lookout.call(nothing)
    lookout.close()
    assert is_running == [True]


def test_the_lookout_of_a_node_that_has_gone_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    connections = Client(redis.Redis()).runtime.connections
    first, second = object(), object()
    nodes: dict[str, object] = {"a": first, "b": second}
    monkeypatch.setattr(connections, "pool_of", nodes.__getitem__)
    monkeypatch.setattr(connections, "masters", lambda: list(nodes.values()))

    def ends_at_once(lookout: Any) -> None:
        vars(lookout).update(_is_running=False)

    monkeypatch.setattr(Lookout, "_run", ends_at_once)
    lookouts = Lookouts(connections, Beginner(connections.clock, lambda notice: None))
    sources = SharedSources(Line("orders", Inbox(connections.clock), Mutex()))
    pumps = {name: watched(connections, name, sources, lookouts) for name in "ab"}
    lookouts.call(pumps["a"])
    eventually(lambda: pumps["a"].lookout is not None and not vars(pumps["a"].lookout)["_is_running"])
    nodes["a"] = second
    lookouts.call(pumps["b"])
    eventually(lambda: pumps["b"].lookout)
    assert [pool for pool, _ in vars(lookouts)["_by_pool"].values()] == [second]
    # Its source still knows it, and finds another one.
    lookouts.call(pumps["a"])
    eventually(lambda: pumps["a"].lookout is pumps["b"].lookout)
    lookouts.close()


class ToldMutex:
    """A mutex that reports when another thread wants it."""

    def __init__(self) -> None:
        self.is_wanted = threading.Event()
        self._mutex = Mutex()

    def __enter__(self) -> None:
        if not self._mutex.acquire(blocking=False):
            self.is_wanted.set()
            self._mutex.acquire()

    def __exit__(self, *error: object) -> None:
        self._mutex.release()


class Rounds(SharedSources):
    """The sources of one line, and the keys of each round."""

    def __init__(self, line: Line) -> None:
        super().__init__(line)
        self.rounds: list[list[str]] = []

    def ask(self, called: Collection[WatchedSource], now: float) -> Sequence[WatchedSource]:
        self.rounds.append([pump.source.key for pump in called])
        return super().ask(called, now)


def test_a_round_has_all_sources_that_are_called_together() -> None:
    """The first of them alone would be asked for all values."""
    connections = Client(redis.Redis()).runtime.connections
    mutex: Any = ToldMutex()
    sources = Rounds(Line("orders", Inbox(connections.clock), mutex))
    nothing: Any = None
    lookout = Lookout(connections, nothing, Beginner(connections.clock, lambda notice: None), lambda error: None)
    calling: Any = SimpleNamespace(call=lookout.call)
    pumps = [watched(connections, name, sources, calling) for name in "abc"]
    for pump in pumps:
        pump.lookout = lookout
    with mutex:
        pumps[0].wake()
        assert mutex.is_wanted.wait(PATIENCE)
        for pump in pumps[1:]:
            pump.wake()
    lookout.close()
    assert sources.rounds == [["a", "b", "c"]]


@pytest.mark.parametrize("count", [1, 8])
def test_callers_that_come_at_once_share_the_seats_of_their_receiver(count: int) -> None:
    """Each makes one, and any of them may be the one that is used."""
    receivers = Client(redis.Redis()).runtime.receivers
    source = RoundRobin(tuple(Pop((f"orders:{number}",), "first") for number in range(count)))
    make = vars(type(receivers))["_made"]
    made = [make(receivers, source.sources) for _ in range(3)]
    assert [type(each.pump) for each in made] == [Pump] * 3
    others = [Pop((f"other{number}",), "first") for number in range(9 - count)]
    assert [type(make(receivers, (other,)).pump) for other in others] == [Pump] * (8 - count) + [WatchedSource]
