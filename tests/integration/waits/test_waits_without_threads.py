"""Waits while the system gives no threads: they go on as soon as it gives some again."""

from __future__ import annotations

import _thread
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest

from redisson_dq import partition_names
from redisson_dq.codecs import LongCodec
from redisson_dq.errors import DecodeError
from redisson_dq.wire.keys import QueueKeys
from tests.conftest import PATIENCE, eventually

PARTS = partition_names("orders", 2)
# Tasks are never short.
pytestmark = [
    pytest.mark.parametrize("server", ["redis"], indirect=True),
    pytest.mark.parametrize("flavour", ["sync"], indirect=True),
]


@pytest.fixture
def others(threads: ThreadPoolExecutor) -> ThreadPoolExecutor:
    """Threads that are there before the system gives no more."""
    barrier = threading.Barrier(20)
    for each in [threads.submit(barrier.wait, PATIENCE) for _ in range(20)]:
        each.result(PATIENCE)
    return threads


@contextmanager
def no_threads(monkeypatch: pytest.MonkeyPatch, name: str = "") -> Iterator[Callable[[], int]]:
    """The system gives the library no thread whose name ends so. Gives how often it was refused one."""
    refused: list[object] = []
    usual = _thread.start_new_thread

    def start(begin: Any, arguments: tuple[Any, ...]) -> int:
        if not begin.__self__.name.endswith(name):
            return usual(begin, arguments)
        refused.append(begin)
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(_thread, "start_new_thread", start)
        yield lambda: len(refused)


def test_a_wait_begins(admin: Any, client: Any, others: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch) -> None:
    assert client.blocking_queue("bills", transfer=False).poll(timeout=0.01) is None
    queue = client.blocking_queue("orders", transfer=False)
    with no_threads(monkeypatch) as refused:
        waiting = others.submit(queue.take)
        eventually(lambda: refused() > 1)
        admin.rpush("orders", "a")
    assert waiting.result(PATIENCE) == "a"


@pytest.mark.parametrize("name", [f"-round-robin-{PARTS[0]}", f"-receiver-{PARTS[1]}"])
def test_a_wait_for_partitions_begins(
    admin: Any, client: Any, others: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    queue = client.blocking_queue("orders", partitions=2, transfer=False)
    with no_threads(monkeypatch, name) as refused:
        waiting = others.submit(queue.take)
        eventually(lambda: refused() > 1)
    admin.rpush(PARTS[1], "a")
    assert waiting.result(PATIENCE) == "a"


@pytest.mark.parametrize("name", ["-lookout", "-lookout-clerk", "-lookout-hears"])
def test_a_wait_for_many_queues_begins(
    admin: Any, client: Any, others: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    first = [others.submit(client.blocking_queue(f"other{each}", transfer=False).take) for each in range(8)]
    eventually(lambda: admin.info("clients")["blocked_clients"] == 8)
    queue = client.blocking_queue("orders", transfer=False)
    with no_threads(monkeypatch, name) as refused:
        waiting = others.submit(queue.take)
        eventually(lambda: refused() > 1)
        admin.rpush("orders", "a")
    assert waiting.result(PATIENCE) == "a"
    for number in range(8):
        admin.rpush(f"other{number}", "over")
    assert [each.result(PATIENCE) for each in first] == ["over"] * 8


def test_a_blocking_command_for_nobody_ends(
    admin: Any, client: Any, others: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = client.blocking_queue("orders", transfer=False)
    waiting = others.submit(queue.poll_from_any, "bills", timeout=PATIENCE)
    eventually(lambda: admin.info("clients")["blocked_clients"] == 1)
    receivers = client.runtime.receivers
    with no_threads(monkeypatch, "-unblock-orders") as refused:
        ending = others.submit(receivers.end, "orders")
        eventually(lambda: refused() > 1)
    eventually(lambda: admin.info("clients")["blocked_clients"] == 0)
    ending.result(PATIENCE)
    assert waiting.exception(PATIENCE) is not None


def test_a_value_that_nobody_can_read_is_set_aside(
    admin: Any, client: Any, others: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue = client.blocking_queue("orders", LongCodec(), transfer=False)
    waiting = others.submit(queue.take)
    eventually(lambda: admin.info("clients")["blocked_clients"] == 1)
    with no_threads(monkeypatch) as refused:
        admin.rpush("orders", "one")
        eventually(lambda: refused() > 1)
    assert isinstance(waiting.exception(PATIENCE), DecodeError)
    assert admin.lrange(QueueKeys.of("orders").undecodable, 0, -1) == [b"one"]


def test_a_call_beside_begins(client: Any, others: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch) -> None:
    assert client.blocking_queue("orders", transfer=False).poll(timeout=0.01) is None
    begun = threading.Event()
    with no_threads(monkeypatch, "-beside") as refused:
        client.runtime.receivers.run_beside(begun.set, "test-beside")
        eventually(lambda: refused() > 1)
    assert begun.wait(PATIENCE)
