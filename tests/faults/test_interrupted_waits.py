"""Signal handlers raise at every point of a waiting call where Python can run them. The client still works."""

from __future__ import annotations

import contextlib
import dis
import itertools
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager
from types import FrameType
from typing import Any

import pytest

import redisson_dq
from redisson_dq.codecs import StringCodec
from redisson_dq.errors import RedisConnectionError
from tests.conftest import by_night, eventually
from tests.faults.tracing import traced
from tests.faults.world import World
from tests.integration.whereabouts import whereabouts

_STOCK = 5
# Seconds. These tests look for hangs, so each of them needs an end, with room for a busy machine.
_PATIENCE = 15.0


class Interrupted(BaseException):
    """Raised by the signal handler. Like KeyboardInterrupt, it passes ``except Exception``."""


class _Points:
    """Counts the points at which Python would run the handler of a signal, and raises at one of them.

    These are the beginning of a function, the end of a call of C code, and a jump backwards. The interpreter returns
    from a Python function without checking for signals. Only 3.10 checks, so it loses the result of any function there.
    This file itself is left out: a value that was returned belongs to the caller.
    """

    def __init__(self, raise_at: int) -> None:
        self._raise_at = raise_at
        self._passed = 0
        self._last: dict[FrameType, int] = {}
        self._returned_to: FrameType | None = None
        self.raised = False
        #: Where it raised.
        self.where = ""

    def look(self, frame: FrameType, event: str) -> None:
        if event == "call":
            self._point(frame)
        elif event == "opcode":
            before = self._last.get(frame)
            self._last[frame] = frame.f_lasti
            has_returned, self._returned_to = self._returned_to is frame, None
            if before is not None and (frame.f_lasti < before or (_ends_a_call(frame, before) and not has_returned)):
                self._point(frame)
        elif event == "return":
            self._last.pop(frame, None)
            self._returned_to = frame.f_back

    def _point(self, frame: FrameType) -> None:
        self._passed += 1
        if self._passed == self._raise_at:
            self.raised = True
            self.where = f"{frame.f_code.co_filename}:{frame.f_lineno}"
            # Tracing is over. Frames kept here would keep the objects of the call alive.
            self._last.clear()
            self._returned_to = None
            raise Interrupted


_CALLS: dict[object, frozenset[int]] = {}


def _ends_a_call(frame: FrameType, offset: int) -> bool:
    code = frame.f_code
    if code not in _CALLS:
        _CALLS[code] = frozenset(i.offset for i in dis.get_instructions(code) if i.opname.startswith("CALL"))
    return offset in _CALLS[code]


def _interrupted(points: _Points) -> AbstractContextManager[None]:
    return traced(lambda frame: frame.f_code.co_filename != __file__, points.look)


_WAITS: dict[str, Callable[[Any], Any]] = {
    "take": lambda queue: queue.take(),
    "poll": lambda queue: queue.poll(timeout=5),
    "short poll": lambda queue: queue.poll(timeout=0.2),
    "poll many": lambda queue: queue.poll(3, timeout=5),
    "short poll many": lambda queue: queue.poll(3, timeout=0.2),
    "move": lambda queue: queue.move("orders", timeout=5),
}


# An interruption in the callback of a weak reference is reported, and raised to nobody.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("partitions", [None, by_night(2)])
@pytest.mark.parametrize("wait", _WAITS)
def test_at_every_point(wait: str, partitions: int | None) -> None:
    if partitions and wait == "move":
        wait = "take"
    options: dict[str, Any] = {} if partitions is None else {"partitions": partitions}
    names = ["orders"] if partitions is None else redisson_dq.partition_names("orders", partitions)
    values = sorted(f"item:interrupted:{i}" for i in range(_STOCK))
    with World() as world:
        client = redisson_dq.connect(world.server.url, codec=StringCodec())
        try:
            queue = client.blocking_queue("orders", transfer=False, **options)
            # Its threads run before: the first wait has a test of its own.
            assert not queue.poll(timeout=0.01)
            at, given = 0, values
            while True:
                at += 1
                # What a wait has taken for an interrupted one may come back later. So nothing else is put there.
                world.admin.rpush(names[0], *given)
                points, given = _Points(at), []
                try:
                    with _interrupted(points):
                        given = _flat([_WAITS[wait](queue)])
                except Interrupted:
                    pass
                if not points.raised:
                    break
                # The next wait finds something, as the interrupted one has taken a part at most.
                taken = _flat(_aside(lambda: queue.poll(timeout=_PATIENCE)))
                assert taken, f"nothing comes any more after an interruption at point {at}"
                given = taken if wait == "move" else given + taken
                eventually(
                    lambda: sorted(given + _left(world.admin, names)) == values,  # noqa: B023
                    within=_PATIENCE,
                    told=lambda: f"{points.where}: given {given}, left {_left(world.admin, names)}",  # noqa: B023
                )
            assert at > 30
        finally:
            _aside(client.close)


# Where a connection is being made, redis-py leaves its socket to the collector.
_LEAVES_SOCKETS = pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)

_RECEIVES: dict[str, Callable[[Any], Any]] = {
    "receive": lambda queue: queue.receive(visibility_timeout=600),
    "at once": lambda queue: queue.receive(timeout=0, visibility_timeout=600),
    "many": lambda queue: queue.receive(3, timeout=5, visibility_timeout=600),
}


@_LEAVES_SOCKETS
@pytest.mark.parametrize("receive", _RECEIVES)
def test_a_receive_at_every_point(receive: str) -> None:
    """The next one finds something at once: what the interrupted one had is never held back and called nothing."""
    values = [f"item:interrupted:{i}" for i in range(_STOCK)]
    with World() as world:
        client = redisson_dq.connect(world.server.url, codec=StringCodec())
        try:
            queue = client.blocking_queue("orders", transfer=False)
            # Its threads run before: the first wait has a test of its own.
            assert queue.receive(timeout=0.01) is None
            at = 0
            world.admin.rpush("orders", *values)
            while True:
                at += 1
                points, given = _Points(at), []
                with contextlib.suppress(Interrupted), _interrupted(points):
                    given = _flat([_RECEIVES[receive](queue)])
                if not points.raised:
                    break
                found = _flat(_aside(lambda: queue.receive(timeout=0, visibility_timeout=600)))
                assert found, f"an item is there, and is not found after an interruption at point {at}"
                given += found
                eventually(lambda: _as_given(world.admin, given, values), within=_PATIENCE)  # noqa: B023
                # What was received for an interrupted wait may come back later. So nothing else is put there.
                for delivery in given:
                    delivery.ack()
                world.admin.rpush("orders", *(delivery.value for delivery in given))
            assert at > 30
        finally:
            _aside(client.close)


_FIRST_WAITS: dict[str, Callable[[Any], Any]] = {
    "take": lambda queue: queue.take(),
    "receive": lambda queue: queue.receive(timeout=5, renew=True),
}


@_LEAVES_SOCKETS
@pytest.mark.parametrize("stride", [9, by_night(1)])
@pytest.mark.parametrize("wait", _FIRST_WAITS)
def test_the_first_wait_at_every_point(wait: str, stride: int) -> None:
    """In it the client starts its threads. What has begun runs, and no lock of anybody is left held."""
    with World() as world:
        at = 1 - stride
        while True:
            at += stride
            client = redisson_dq.connect(world.server.url, codec=StringCodec())
            try:
                queue = client.blocking_queue(f"orders-{at}", transfer=False)
                queue.add("a")
                points, given = _Points(at), []
                with contextlib.suppress(Interrupted), _interrupted(points):
                    given = [_FIRST_WAITS[wait](queue)]
                # One that another thread has just started takes a moment until it begins.
                eventually(lambda: all(thread.ident for thread in threading.enumerate()), within=_PATIENCE)
                assert given or _aside(lambda: queue.poll(timeout=_PATIENCE)) == ["a"], at  # noqa: B023
            finally:
                _aside(client.close)
            if not points.raised:
                break
        assert at > 50


def _as_given(admin: Any, given: list[Any], values: list[str]) -> bool:
    """Whether what was given is leased, and the rest is ready."""
    leased = sum(whereabouts(admin, "orders").leased.values())
    return sorted([each.value for each in given] + _left(admin, ["orders"])) == values and leased == len(given)


@_LEAVES_SOCKETS
@pytest.mark.parametrize("connects", [True, False])
def test_a_call_at_every_point(connects: bool) -> None:
    """The next call has its own reply, also where a connection was just being made."""
    with World() as world:
        world.admin.rpush("orders", *range(_STOCK))
        at = 0
        while True:
            at += 1
            with redisson_dq.connect(world.server.url, codec=StringCodec()) as client:
                queue = client.blocking_queue("orders", transfer=False)
                assert queue.size() == _STOCK
                if connects:
                    world.admin.client_kill_filter(_type="normal", skipme=True)
                points = _Points(at)
                with contextlib.suppress(Interrupted), _interrupted(points):
                    queue.contains("0")
                assert queue.peek() == "0", at
                assert queue.size() == _STOCK, at
            if not points.raised:
                break
        assert at > 50


@_LEAVES_SOCKETS
def test_an_offer_that_waits_at_every_point() -> None:
    """Whoever waits for room next is woken."""
    with World() as world:
        client = redisson_dq.connect(world.server.url, codec=StringCodec())
        at = 0
        try:
            # Its threads run before: the first wait has a test of its own.
            before = client.bounded_blocking_queue("before", transfer=False)
            assert before.try_set_capacity(1)
            assert [before.offer("a", timeout=_PATIENCE), before.offer("b", timeout=0.3)] == [True, False]
            for number in itertools.count():
                at += 1
                queue = client.bounded_blocking_queue(f"orders-{number}", transfer=False)
                queue.try_set_capacity(1)
                queue.add("first")
                points = _Points(at)
                is_answered = True
                try:
                    with contextlib.suppress(Interrupted), _interrupted(points):
                        queue.offer("interrupted", timeout=0.001)
                except RedisConnectionError:
                    # A busy machine did not answer in so short a time, which an offer may say. The point comes again.
                    is_answered = False
                    at -= not points.raised
                if is_answered and not points.raised:
                    break
                putting = threading.Thread(target=queue.put, args=("last",), daemon=True)
                putting.start()
                # What was interrupted may yet be in, and have the room.
                eventually(lambda: queue.poll() is None and not putting.is_alive(), within=_PATIENCE)  # noqa: B023
                queue.destroy()
            assert at > 30
        finally:
            _aside(client.close)


def _aside(call: Callable[[], Any]) -> list[Any]:
    """What the call gives, as a list; nothing when it hangs."""
    given: list[Any] = []
    thread = threading.Thread(target=lambda: given.append(call()), daemon=True)
    thread.start()
    thread.join(2 * _PATIENCE)
    return given


def _flat(values: list[Any]) -> list[Any]:
    return [each for value in values for each in (value if isinstance(value, list) else [value]) if each is not None]


def _left(admin: Any, names: list[str]) -> list[str]:
    return [value.decode() for name in names for value in admin.lrange(name, 0, -1)]
