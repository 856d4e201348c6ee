"""Slips with the clock of a test are named at once, and nobody waits for a time that does not pass."""

from __future__ import annotations

import pytest

import redisson_dq
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import ArgumentError
from redisson_dq.testing import NoRestError, TestClock, run_until_idle
from redisson_dq.worker import Worker
from tests.conftest import PROGRAMS


def test_they_name_the_right_form() -> None:
    with EmbeddedServer(program=PROGRAMS["redis"]()) as server, TestClock(server.url) as clock:
        client = redisson_dq.connect(server.url)
        try:
            worker = Worker(client)
            worker.handler("orders")(lambda value: None)
            with pytest.raises(ArgumentError, match=r"run_until_idle\(worker, clock=clock\)"):
                run_until_idle(worker)
            run_until_idle(worker, clock=clock)
        finally:
            client.close()


def test_a_worker_that_is_not_idle_in_time_is_told_of() -> None:
    with EmbeddedServer(program=PROGRAMS["redis"]()) as server, redisson_dq.connect(server.url) as client:
        worker = Worker(client)
        worker.handler("orders")(print)
        client.delayed_queue("orders").offer("a", delay=86_400)
        with pytest.raises(NoRestError, match=r"queue 'orders': 0 ready, 0 in flight, 1 waiting, next due 20"):
            run_until_idle(worker, timeout=0.1)
