"""The server's clock is set while values are leased. A lease lasts by that clock, and every answer is right."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from redisson_dq.items import SettleOutcome
from redisson_dq.worker import Lost, Succeeded
from tests.conftest import eventually
from tests.faults.world import World
from tests.flavours import Flavour
from tests.workers.handlers import Gate, Ledger, Log, at_rest, running

pytestmark = pytest.mark.nightly


@pytest.fixture(scope="module")
def clock_world() -> Iterator[World]:
    with World(clock=True) as world:
        yield world


@pytest.fixture
def world(clock_world: World) -> World:
    clock_world.step_clock(0)
    clock_world.admin.flushall()
    return clock_world


def test_set_forward_a_lease_that_is_kept_ends_and_its_holder_is_told(flavour: Flavour, world: World) -> None:
    lost: list[Any] = []
    with world.connect(flavour) as client, world.connect(flavour) as other:
        queue = client.blocking_queue("orders")
        queue.add("a")
        delivery = queue.receive(visibility_timeout=3, renew=True, on_lost=lost.append)
        world.step_clock(60)
        # The mover moves it, and the next receiver gets it. This is not a failure of a handler.
        again = other.blocking_queue("orders").receive(timeout=30)
        assert (again.value, again.attempt, again.crashes) == ("a", 2, 1)
        eventually(lambda: len(lost) == 1)
        assert delivery.lost
        assert delivery.ack() is SettleOutcome.LOST
        assert again.ack() is SettleOutcome.ACKED
        assert (queue.size(), queue.in_flight_size()) == (0, 0)


def test_set_forward_by_less_than_the_lease_has_left(flavour: Flavour, world: World) -> None:
    lost: list[Any] = []
    with world.connect(flavour) as client:
        queue = client.blocking_queue("orders")
        queue.add("a")
        delivery = queue.receive(
            visibility_timeout=60, renew=True, on_lost=lambda delivery: pytest.fail("told wrongly")
        )
        for ahead in (25, 50, 75):
            world.step_clock(ahead)
            # Like the renewal, which would be due later.
            assert delivery.extend(60) is SettleOutcome.EXTENDED
            assert 60 - 20 < delivery.remaining.total_seconds() < 60.1
        assert queue.poll() is None
        assert not lost
        assert delivery.ack() is SettleOutcome.ACKED


@pytest.mark.parametrize("call", ["ack", "nack", "nack later", "reject", "extend"])
def test_set_back_a_lease_is_ended_and_extended_as_ever(flavour: Flavour, world: World, call: str) -> None:
    with world.connect(flavour) as client:
        queue = client.blocking_queue("orders")
        queue.add("a")
        delivery = queue.receive(visibility_timeout=5)
        world.step_clock(-3600)
        if call == "ack":
            assert delivery.ack() is SettleOutcome.ACKED
            assert queue.receive(timeout=0) is None
            return
        if call == "reject":
            assert delivery.reject("no") is SettleOutcome.DEAD_LETTERED
            assert queue.redrive().count == 1
        elif call == "extend":
            # The deadline is before the previous one, and the value comes in time.
            assert delivery.extend(0.5) is SettleOutcome.EXTENDED
            assert delivery.remaining.total_seconds() < 0.6
        else:
            delivery.nack(delay=0.2 if call == "nack later" else None)
        again = queue.receive(timeout=30)
        assert again.value == "a"
        # Times are the clock's, as it was then.
        assert again.received <= again.deadline
        assert again.ack() is SettleOutcome.ACKED
        assert not [key for key in world.admin.keys("*orders*") if world.admin.type(key) == b"list"]


def test_a_lease_that_is_renewed_outlives_steps_back(flavour: Flavour, world: World) -> None:
    lost: list[Any] = []
    with world.connect(flavour) as client, world.connect(flavour) as other:
        queue = client.blocking_queue("orders")
        queue.add("a")
        waiting = other.blocking_queue("orders")
        delivery = queue.receive(visibility_timeout=3, renew=True, on_lost=lost.append)
        for back in (-60, -120, -3600):
            world.step_clock(back)
            before = delivery.deadline
            while delivery.deadline == before:
                time.sleep(0.01)
            assert waiting.receive(timeout=1.5) is None
        assert not lost
        assert delivery.ack() is SettleOutcome.ACKED


def test_a_worker_while_the_clock_is_set_to_and_fro(flavour: Flavour, world: World) -> None:
    """Each value is handled completely, whether its lease was lost meanwhile or not."""
    with world.connect(flavour) as client:
        worker, gate, ledger = flavour.worker(client, visibility_timeout=3), Gate(), Ledger()
        log = Log(worker)

        def handle(value: Any, event: Any) -> None:
            if event.attempt == 1 and value == "held":
                gate.wait()
            ledger.note(value, event)

        worker.handler("orders", concurrency=4)(handle)
        queue, delayed = client.blocking_queue("orders"), client.delayed_queue("orders")
        with running(worker, gate):
            queue.add("held")
            eventually(lambda: gate.inside == 1)
            for ahead in (30, -30, 600):
                world.step_clock(ahead)
                delayed.offer(f"at {ahead}", delay=0.1)
                # The value whose lease was lost comes again in between.
                while ledger.next() != f"at {ahead}":
                    pass
            log.until(Lost)
            gate.open()
            eventually(lambda: len(log.of(Succeeded)) == 4)
            at_rest(world.admin)
    # The attempt with the lost lease also ended, and did not count.
    assert sorted(set(ledger.values)) == ["at -30", "at 30", "at 600", "held"]
    assert [happening.id for happening in log.of(Succeeded)].count(log.of(Lost)[0].id) == 0


def test_a_process_that_died_while_the_clock_was_set_back(flavour: Flavour, world: World) -> None:
    """Its lease lasts longer by the step, and not more. When the clock is right again, it ends by the next probe."""
    with world.connect(flavour) as client:
        queue = client.blocking_queue("orders")
        queue.add("a")
        queue.receive(visibility_timeout=1)
        world.step_clock(-30)
        assert queue.receive(timeout=1.5) is None
        assert queue.in_flight_size() == 1
        world.step_clock(0)
        began = time.monotonic()
        assert queue.receive(timeout=30).attempt == 2
        assert time.monotonic() - began < 25
