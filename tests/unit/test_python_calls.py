"""A call of a queue runs few functions in few files. ``python -m tests.python_calls NAME`` lists those of one call."""

from __future__ import annotations

import pytest

from redisson_dq.embedded import EmbeddedServer
from tests.python_calls import Cost, costs, job_costs

#: The most functions and files, over all threads. A change that needs more says why; one that needs fewer lowers
#: the number.
LIMITS = {
    "offer": (37, 19),
    "cancel": (22, 11),
    "size": (13, 7),
    "peek": (24, 11),
    "add": (23, 12),
    "poll": (30, 12),
    "take": (64, 18),
    # One in some calls looks whether a message of Redis got through.
    "receive": (56, 24),
    "ack": (28, 10),
}
#: For one job of a busy worker. How many values come in one reply differs from run to run.
JOB_LIMITS = {"threads": 36.0, "asyncio": 38.0}


@pytest.fixture(scope="module")
def found() -> dict[str, Cost]:
    with EmbeddedServer() as server:
        return costs(server.url)


@pytest.mark.parametrize("name", LIMITS)
def test_a_call_runs_few_functions_in_few_files(found: dict[str, Cost], name: str) -> None:
    cost = found[name]
    calls, files = LIMITS[name]
    assert cost.calls <= calls, cost.functions
    assert cost.files <= files, sorted({file for file, _ in cost.functions})
    # A walk that was not seen would pass too.
    assert cost.functions[0][0].startswith(("_sync/queues/", "_sync/leases/"))


def test_the_background_task_of_a_take_counts(found: dict[str, Cost]) -> None:
    assert ("waits/engine.py", "run") in found["take"].functions


def test_a_job_of_a_busy_worker_runs_few_functions() -> None:
    with EmbeddedServer() as server:
        jobs = job_costs(server.url)
    assert {flavour: calls for flavour, calls in jobs.items() if not 10 < calls <= JOB_LIMITS[flavour]} == {}
