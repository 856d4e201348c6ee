"""Receivers end while others start or end, and a pump ends while the next one begins."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import Any

import attrs
import pytest

from redisson_dq._sync.connecting.dedicated import Dedicated
from redisson_dq._sync.receiving import receivers
from redisson_dq.errors import ClosedError
from redisson_dq.observing.outage import Outage
from tests.conftest import eventually

pytestmark = [
    pytest.mark.parametrize("server", ["redis"], indirect=True),
    # Tasks do not come between.
    pytest.mark.parametrize("flavour", ["sync"], indirect=True),
]


class Idle:
    """A receiver without waiters. A callback runs when it is asked whether it has looks."""

    def __init__(self, happens: Callable[[], object]) -> None:
        self._happens = happens
        self.line = self
        self.closed = False
        self.is_at_rest = True
        self.sources: tuple[Any, ...] = ()

    def shut(self) -> None:
        self.closed = True

    @property
    def are_looks_open(self) -> bool:
        return bool(self._happens())


@attrs.frozen(eq=False)
class Own:
    """A source with such a receiver. A callback runs when it is asked whether it ends."""

    receives: Idle
    happens: Callable[[], object] = int

    @property
    def sources(self) -> tuple[Own, ...]:
        return (self,)

    def at_once(self, limit: int) -> None:
        """Nothing is taken from it."""

    def ends_with(self, key: str) -> bool:
        self.happens()
        return True


@pytest.fixture
def own_receivers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receivers, "Receiver", lambda connections, notices, sources, *rest: sources[0].receives)


@pytest.fixture
def failed(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The errors that have ended threads."""
    errors: list[Any] = []
    monkeypatch.setattr(threading, "excepthook", errors.append)
    return errors


@pytest.mark.usefixtures("own_receivers")
def test_a_caller_comes_while_all_are_looked_at_for_the_last_time(client: Any, failed: list[Any]) -> None:
    of_client, looked = client.runtime.receivers, threading.Event()

    def come() -> None:
        if not looked.is_set():
            with contextlib.suppress(ClosedError):
                of_client.of(Own(Idle(looked.set)))

    of_client.of(Own(Idle(come)))
    once = iter([True])
    of_client.of(Own(Idle(lambda: next(once, False))))
    of_client.close()
    assert looked.wait(10)
    assert not failed


@pytest.mark.usefixtures("own_receivers")
def test_two_end_one_receiver(client: Any) -> None:
    of_client, inner = client.runtime.receivers, threading.Lock()

    def end() -> None:
        if inner.acquire(blocking=False):
            of_client.end("orders")

    receives = Idle(int)
    of_client.of(Own(receives, end))
    of_client.end("orders")
    assert receives.closed


def test_a_pumper_reports_nothing_any_more_when_the_next_one_may_begin(
    client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    gave_up, close = Outage.gave_up, Dedicated.close

    def gives_up(outage: Outage, part: str) -> None:
        if part.startswith("wait"):
            told.append("gives up")
        gave_up(outage, part)

    def closes(dedicated: Dedicated) -> None:
        told.append("closes its connection")
        close(dedicated)

    assert client.blocking_queue("orders", transfer=False).poll(timeout=0.01) is None
    monkeypatch.setattr(Outage, "gave_up", gives_up)
    monkeypatch.setattr(Dedicated, "close", closes)
    client.runtime.receivers.end("orders")
    # Others begin as soon as the mutex is free.
    eventually(lambda: len(told) == 2)
    assert told == ["gives up", "closes its connection"]
