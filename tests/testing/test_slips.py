"""Slips with the clock of a test are named at once, and nobody waits for a time that does not pass."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import attrs
import pytest

import redisson_dq
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import ArgumentError
from redisson_dq.testing import NoRestError, TestClock, handle_one, leak_free, run_until_idle, server_of_tests
from redisson_dq.testing.faults import Faults
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
            with pytest.raises(ArgumentError, match=r"run_until_idle\(\) takes the Worker first, not "):
                run_until_idle(client, clock=clock)
            with pytest.raises(ArgumentError, match=r"handle_one\(\) takes the Worker first, not 'order-42'"):
                handle_one("order-42", worker)
        finally:
            client.close()


def test_a_worker_that_is_not_idle_in_time_is_told_of() -> None:
    with EmbeddedServer(program=PROGRAMS["redis"]()) as server, redisson_dq.connect(server.url) as client:
        worker = Worker(client)
        worker.handler("orders")(print)
        client.delayed_queue("orders").offer("a", delay=86_400)
        with pytest.raises(NoRestError, match=r"queue 'orders': 0 ready, 0 in flight, 1 waiting, next due 20"):
            run_until_idle(worker, timeout=0.1)


@attrs.frozen
class Kit:
    """What the calls below need."""

    server: Any
    clock: TestClock
    faults: Faults


@pytest.fixture(scope="module")
def kit() -> Iterator[Kit]:
    with server_of_tests() as server, Faults(server) as faults, TestClock(server.url) as clock:
        yield Kit(server, clock, faults)


# Each as a statement of its own, which is the slip.
SLIPS = {
    "clock.auto()": "clock.auto()",
    "TestClock(url)": "TestClock(server.url)",
    "Faults(server)": "Faults(server)",
    "server_of_tests(...)": "server_of_tests(server.url)",
    "leak_free(...)": "leak_free(server)",
    "faults.down()": "faults.down()",
    "faults.frozen()": "faults.frozen()",
    "faults.delayed(...)": "faults.delayed(1.0)",
    "faults.frozen_at(...)": "faults.frozen_at('offer')",
    "faults.delayed_at(...)": "faults.delayed_at('offer', 1.0)",
    "faults.cut_at(...)": "faults.cut_at('offer')",
    "faults.lost_reply(...)": "faults.lost_reply('offer')",
    "faults.refused(...)": "faults.refused('offer')",
    "faults.full()": "faults.full()",
    "faults.paused()": "faults.paused()",
}


def names_for(kit: Kit) -> dict[str, Any]:
    of_kit = {"server_of_tests": server_of_tests, "leak_free": leak_free, "TestClock": TestClock, "Faults": Faults}
    return {**attrs.asdict(kit, recurse=False), **of_kit}


@pytest.mark.parametrize("form", SLIPS)
def test_a_context_manager_without_with_is_refused_at_once(kit: Kit, form: str) -> None:
    with pytest.raises(ArgumentError) as refused:
        exec(SLIPS[form], names_for(kit))
    assert str(refused.value) == f"{form} without `with` does nothing: use `with {form}:`"


@pytest.mark.parametrize("form", SLIPS)
@pytest.mark.parametrize("used", ["await made", "async with made: pass"])
def test_a_context_manager_is_not_awaited(kit: Kit, form: str, used: str) -> None:
    names = {**names_for(kit), "made": eval(SLIPS[form], names_for(kit))}
    exec(f"async def main():\n    {used}", names)
    with pytest.raises(ArgumentError, match="does not fit; use `with"):
        asyncio.run(names["main"]())


def test_what_a_context_manager_gives_is_asked_of_the_entered_one(kit: Kit) -> None:
    with pytest.raises(AttributeError, match=r"before it is entered: use `with server_of_tests\(\.\.\.\) as"):
        _ = server_of_tests(kit.server.url).url  # type: ignore[attr-defined]


def test_all_faults_that_are_context_managers_are_looked_at() -> None:
    kinds = ("Iterator", "contextlib")
    made = {
        name
        for name, call in vars(Faults).items()
        if name[0] != "_" and getattr(call, "__annotations__", {}).get("return", "").startswith(kinds)
    }
    looked_at = {form.removeprefix("faults.").partition("(")[0] for form in SLIPS if form.startswith("faults.")}
    assert made == looked_at
