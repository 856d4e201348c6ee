"""Assertions about queues, and workers in tests."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import attrs
import pytest

from redisson_dq.codecs import JsonJacksonCodec
from redisson_dq.errors import ArgumentError
from redisson_dq.testing import (
    NoRestError,
    TestClock,
    assert_dead,
    assert_not_offered,
    assert_offered,
    assert_settled,
    handle_one,
    make_event,
    offered,
    run_until_idle,
)
from redisson_dq.worker import Retry, fixed
from tests.flavours import Flavour

HALF_AN_HOUR = timedelta(minutes=30)


@pytest.fixture
def of(flavour: Flavour) -> Any:
    """Calls a function of the kit with a handle or a worker, in its flavour."""

    def call(function: Any, subject: Any, *args: Any, **kwargs: Any) -> Any:
        if flavour.name == "sync":
            return function(subject, *args, **kwargs)

        async def called() -> Any:
            return await function(subject.inner, *args, **kwargs)

        return flavour.run(called())  # type: ignore[attr-defined]

    return call


@pytest.fixture
def orders(client: Any) -> Any:
    return client.delayed_queue("orders", JsonJacksonCodec(), transfer=False)


# -- assertions ------------------------------------------------------------------------------------------------------


def test_items_are_found_by_value_fields_function_delay_and_id(of: Any, orders: Any) -> None:
    orders.offer({"order": 2}, HALF_AN_HOUR)
    orders.offer({"order": 1}, 60, id="first")
    assert [item.value for item in of(offered, orders)] == [{"order": 1}, {"order": 2}]
    assert of(assert_offered, orders, {"order": 1}, id="first", delay=60).id == "first"
    for wanted in (
        {"fields": {"order": 2}},
        {"value": lambda value: value["order"] == 2},
        {"delay": HALF_AN_HOUR},
        {"delay": 1800},
        {"delay": pytest.approx(1700, rel=0.1)},
    ):
        assert of(assert_offered, orders, **wanted).value == {"order": 2}
    late = HALF_AN_HOUR + timedelta(seconds=2)
    for other in ({"value": {"order": 3}}, {"fields": {"name": 1}}, {"delay": late}, {"id": "x"}):
        of(assert_not_offered, orders, **other)
        with pytest.raises(AssertionError, match="no item is like") as failed:
            of(assert_offered, orders, **other)
        assert "{'order': 1}, id 'first', due in 0:01:00" in str(failed.value)


def test_what_is_not_so_is_said(of: Any, orders: Any) -> None:
    of(assert_not_offered, orders)
    with pytest.raises(AssertionError, match="nothing waits"):
        of(assert_offered, orders, "a")
    orders.offer("a", 60)
    orders.offer("b", 60)
    with pytest.raises(AssertionError, match="2 items are like any"):
        of(assert_offered, orders)
    with pytest.raises(AssertionError, match="an item is like value='a'"):
        of(assert_not_offered, orders, "a")


def test_a_queue_is_settled_when_nothing_is_left(of: Any, queue: Any, delayed: Any, clock: TestClock) -> None:
    of(assert_settled, queue)
    delayed.offer("a", 60)
    with pytest.raises(AssertionError, match="1 waiting"):
        of(assert_settled, queue)
    clock.advance(60)
    with pytest.raises(AssertionError, match="1 ready"):
        of(assert_settled, queue)
    delivery = queue.receive()
    with pytest.raises(AssertionError, match="1 in flight"):
        of(assert_settled, queue)
    delivery.reject("no such customer")
    with pytest.raises(AssertionError, match="1 dead"):
        of(assert_settled, queue)
    assert of(assert_dead, queue, "a", reason="customer").attempts == 1
    with pytest.raises(AssertionError, match="'a': no such customer"):
        of(assert_dead, queue, "a", reason="price")


# -- workers ---------------------------------------------------------------------------------------------------------


def test_a_worker_runs_until_nothing_is_left(
    flavour: Flavour, of: Any, client: Any, clock: TestClock, delayed: Any, queue: Any
) -> None:
    worker, handled = flavour.worker(client), []

    @worker.handler("orders", retry=Retry(limit=3, backoff=fixed(3600)))
    def handle(value: str, event: Any) -> None:
        handled.append((value, event.attempt))
        if event.attempt < 3:
            raise ValueError(value)

    before = clock.now
    delayed.offer("a", timedelta(days=30))
    delayed.offer_recurring("b", "monthly", every=timedelta(days=365))
    of(run_until_idle, worker, clock=clock)
    assert handled == [("a", 1), ("a", 2), ("a", 3)]
    assert clock.now - before >= timedelta(days=30, hours=2)
    of(assert_settled, queue)


def test_what_a_handler_raised_at_last_is_raised(
    flavour: Flavour, of: Any, client: Any, clock: TestClock, queue: Any
) -> None:
    worker = flavour.worker(client)

    @worker.handler("orders", retry=None)
    def handle(value: str) -> None:
        raise KeyError(value)

    queue.add("a")
    with pytest.raises(KeyError, match="a"):
        of(run_until_idle, worker, clock=clock)


def test_a_worker_that_is_not_idle_in_time_is_told_of(flavour: Flavour, of: Any, client: Any, delayed: Any) -> None:
    worker = flavour.worker(client)
    worker.handler("orders")(print)
    delayed.offer("a", timedelta(days=30))
    with pytest.raises(NoRestError, match=r"queue 'orders': 0 ready, 0 in flight, 1 waiting, next due 2026-04-19"):
        of(run_until_idle, worker, timeout=0.1)


@attrs.frozen
class Order:
    number: int


def test_one_value_is_handled_without_a_server(flavour: Flavour, of: Any) -> None:
    worker = flavour.worker_of("redis://nowhere.invalid:1/0")

    @worker.per_item
    def database() -> Any:
        raise AssertionError("the test gives another one")

    @worker.handler("orders", Order)
    def handle(order: Order, event: Any, database: Any) -> Any:
        event.extend(60)
        return order.number, event.attempt, event.queue, database

    @worker.handler("orders", str)
    def refuse(value: str) -> None:
        raise ValueError(value)

    handled = of(handle_one, worker, Order(7), attempt=2, given={"database": "none"})
    if flavour.name == "sync":
        assert handled == (7, 2, "orders", "none")
    with pytest.raises(ValueError, match="bad"):
        of(handle_one, worker, "bad")
    with pytest.raises(ArgumentError, match="no handler takes 3"):
        of(handle_one, worker, 3)
    with pytest.raises(ArgumentError, match="an event has no atempt"):
        make_event("a", atempt=2)
