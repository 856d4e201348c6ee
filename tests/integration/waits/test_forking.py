"""A client in a process that was forked off: it refuses every call, and the one before the fork works on."""

from __future__ import annotations

import os
import sys
from typing import Any

import pytest

import redisson_dq
from redisson_dq.codecs import StringCodec
from redisson_dq.errors import ClosedError
from tests.conftest import eventually
from tests.flavours import AsyncioFlavour, Flavour
from tests.workers.handlers import Ledger, running


def test_a_client_does_not_work_in_a_forked_process(admin: Any, url: str) -> None:
    with redisson_dq.connect(url, codec=StringCodec()) as client:
        queue, delayed = client.blocking_queue("orders"), client.delayed_queue("orders")
        bounded = client.bounded_blocking_queue("bounded")
        parts = client.blocking_queue("parts", partitions=2)
        assert queue.poll(timeout=0.01) is None
        listener = bounded.subscribe_on_elements(print)
        refused: list[Any] = [
            queue.take,
            queue.poll,
            lambda: queue.poll(timeout=1),
            lambda: queue.poll_from_any("other"),
            lambda: queue.move("other", timeout=1),
            lambda: queue.subscribe_on_elements(print),
            queue.size,
            parts.take,
            parts.poll,
            lambda: bounded.put("a"),
            lambda: delayed.offer("a", delay=1),
            lambda: client.blocking_queue("new"),
            lambda: client.pipeline().execute(),
        ]
        child = os.fork()
        if child == 0:
            failed = 1
            try:
                for call in refused:
                    try:
                        call()
                    except ClosedError as error:
                        assert f"made in process {os.getppid()}" in str(error)  # noqa: PT017
                    else:
                        raise AssertionError(call)
                bounded.unsubscribe(listener)
                for handle in (queue, delayed, bounded, parts):
                    handle.destroy()
                client.close()
                failed = 0
            finally:
                os._exit(failed)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        delayed.offer("a", delay=0)
        assert queue.take() == "a"


def exit_code_of(child: int) -> int:
    """That of a process that ends by itself."""
    found: list[int] = []

    def has_ended() -> bool:
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid:
            found.append(os.waitstatus_to_exitcode(status))
        return bool(found)

    eventually(has_ended)
    return found[0]


@pytest.mark.parametrize("how", ["stop", "with"])
def test_a_worker_is_stopped_in_a_forked_process_without_harm(flavour: Flavour, url: str, how: str) -> None:
    """It hung there forever, and cut the connections of the parent."""
    ledger = Ledger()
    worker = flavour.worker_of(url, codec=StringCodec())
    worker.handler("orders")(ledger.note)

    def in_child() -> None:
        inner = getattr(worker, "inner", worker)
        if isinstance(flavour, AsyncioFlavour):
            calls = inner.stop() if how == "stop" else inner.__aexit__(None, None, None)
            try:
                calls.send(None)
            except StopIteration:
                return
            raise AssertionError("it waits")
        if how == "stop":
            worker.stop()
        else:
            worker.__exit__(None, None, None)

    with running(worker):
        eventually(lambda: worker.is_consuming)
        child = os.fork()
        if child == 0:
            failed = 1
            try:
                in_child()
                failed = int(getattr(worker, "inner", worker).is_consuming)
            finally:
                os._exit(failed)
        assert exit_code_of(child) == 0
        with flavour.connect(url, codec=StringCodec()) as client:
            client.delayed_queue("orders").offer("a", delay=0.01)
        assert ledger.next() == "a"
        assert worker.is_consuming


@pytest.mark.parametrize(
    ("leaves", "status"),
    [(lambda: sys.exit(), 0), (lambda: sys.exit(3), 3), (lambda: None, 0), (lambda: 1 / 0, 1)],
    ids=["exit", "exit 3", "return", "error"],
)
@pytest.mark.parametrize("awaits", [True, False])
def test_a_process_that_a_handler_forks_off_ends_with_the_handler(
    flavour: Flavour, url: str, leaves: Any, status: int, awaits: bool
) -> None:
    """Its SystemExit was an error like any other, and it went on with the parent's event loop and connections."""
    ledger, children = Ledger(), Ledger()

    def fork(value: str) -> None:
        ledger.note(value)
        if value == "fork":
            child = os.fork()
            if child == 0:
                leaves()
                return
            children.note(child)

    async def async_fork(value: str) -> None:
        fork(value)

    worker = flavour.worker_of(url, codec=StringCodec())
    worker.handler("orders")(async_fork if awaits and isinstance(flavour, AsyncioFlavour) else fork)
    with flavour.connect(url, codec=StringCodec()) as client, running(worker):
        queue = client.blocking_queue("orders")
        queue.add("fork")
        assert ledger.next() == "fork"
        assert exit_code_of(children.next()) == status
        queue.add_all(["a", "b"])
        assert sorted(ledger.some(2)) == ["a", "b"]
        # The child has acked and taken nothing.
        eventually(lambda: queue.size() == 0 and worker.running == 0)
    assert ledger.values.count("fork") == 1
