"""Assertions about queues, and workers in tests."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import attrs
import pytest

from redisson_dq import java
from redisson_dq.codecs import JsonJacksonCodec, Kryo5Codec, StringCodec
from redisson_dq.errors import ArgumentError
from redisson_dq.testing import (
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
from tests.unit.codecs.acme import Address

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
    with pytest.raises(AssertionError, match="there is none"):
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
    with pytest.raises(AssertionError, match=r"it differs in reason: 'no such customer', without 'price'"):
        of(assert_dead, queue, "a", reason="price")


def test_a_failure_names_the_nearest_item_and_its_difference(of: Any, orders: Any) -> None:
    orders.offer({"order": 1, "country": "NO"}, 60, id="first")
    orders.offer({"order": 2}, HALF_AN_HOUR, id="second")
    with pytest.raises(AssertionError) as failed:
        of(assert_offered, orders, fields={"order": 1, "country": "SE"}, delay=60, id="first")
    lines = str(failed.value).splitlines()
    assert lines[0].startswith("queue 'orders': no item is like fields={'order': 1, 'country': 'SE'}, delay=60, ")
    assert lines[1].startswith("  the nearest is {'order': 1, 'country': 'NO'}, id 'first', due in 0:01:00")
    assert lines[2] == "  it differs in country: 'NO', not 'SE'"
    assert [line.split("id ")[1][:8] for line in lines[4:]] == ["'first',", "'second'"]
    with pytest.raises(AssertionError, match="it differs in no field 'price'; delay: 0:01:00, not 61"):
        of(assert_offered, orders, fields={"price": 1}, delay=61, id="first")


def test_items_are_found_by_their_contexts(of: Any, orders: Any) -> None:
    orders.offer({"order": 1}, 60, context={"trace": "00-4b", "user": "7"})
    orders.offer({"order": 2}, 60, id="named", context={"trace": "00-5c"})
    orders.offer({"order": 3}, 60)
    assert of(assert_offered, orders, context={"trace": "00-4b"}).value == {"order": 1}
    assert of(assert_offered, orders, context={"trace": "00-5c"}, id="named").value == {"order": 2}
    of(assert_not_offered, orders, {"order": 3}, context={"trace": "00-4b"})
    with pytest.raises(AssertionError, match="it differs in context trace: '00-4b', not '00-6d'"):
        of(assert_offered, orders, {"order": 1}, context={"trace": "00-6d"})


def test_bytes_that_no_codec_can_read_are_shown_and_hide_nothing(of: Any, client: Any, orders: Any) -> None:
    client.delayed_queue("orders", StringCodec(), transfer=False).offer("{", 30, id="broken")
    orders.offer({"order": 1}, 60)
    assert of(assert_offered, orders, {"order": 1}).value == {"order": 1}
    assert of(assert_offered, orders, id="broken").id == "broken"
    with pytest.raises(AssertionError, match=r"<undecodable \[b'{'\]>, id 'broken', due in 0:00:30"):
        of(assert_offered, orders, lambda value: value["order"] == 2)


@pytest.mark.parametrize("codec", [Kryo5Codec(), JsonJacksonCodec()], ids=repr)
def test_typed_values_of_java_are_found(of: Any, client: Any, codec: Any) -> None:
    delayed = client.delayed_queue("orders", codec, transfer=False)
    home = Address("Kirkegata 1", "Oslo", 150)
    values: list[Any] = [java.HashMap({"order": 1}), java.long(2), UUID(int=3), Decimal("4.50"), home]
    delayed.offer_all([(value, 60) for value in values])
    for value in values:
        assert of(assert_offered, delayed, value).value == value
    assert of(assert_offered, delayed, fields={"order": 1}).value == values[0]
    assert of(assert_offered, delayed, fields={"city": "Oslo"}).value == home
    with pytest.raises(AssertionError, match="it differs in city: 'Oslo', not 'Bergen'"):
        of(assert_offered, delayed, fields={"city": "Bergen", "street": "Kirkegata 1"})


def test_partitions_and_several_queues_count_together(of: Any, flavour: Flavour, client: Any) -> None:
    parts = client.delayed_queue("parts", StringCodec(), partitions=3, transfer=False)
    other = client.delayed_queue("other", StringCodec(), transfer=False)
    for number in range(6):
        parts.offer(f"item {number}", 60 - number, id=f"id {number}", context={"number": str(number)})
    other.offer("item 3", 1)
    assert [item.value for item in of(offered, parts)] == [f"item {number}" for number in reversed(range(6))]
    assert of(assert_offered, parts, "item 3", context={"number": "3"}).id == "id 3"
    both = [getattr(each, "inner", each) for each in (parts, other)]

    def of_both(function: Any, *args: Any, **kwargs: Any) -> Any:
        if flavour.name == "sync":
            return function(both, *args, **kwargs)

        async def called() -> Any:
            return await function(both, *args, **kwargs)

        return flavour.run(called())  # type: ignore[attr-defined]

    assert of_both(assert_offered, "item 4").id == "id 4"
    with pytest.raises(AssertionError, match="queues 'parts', 'other': 2 items are like value='item 3'") as failed:
        of_both(assert_offered, "item 3")
    assert str(failed.value).splitlines()[2].startswith("  'item 3', id ")
    of_both(assert_not_offered, "item 6")
    with pytest.raises(AssertionError, match=r"'parts' is not settled: 6 waiting(.|\n)*'other' is not settled: 1 wait"):
        of_both(assert_settled)
    other.clear()
    parts.clear()
    of_both(assert_settled)


def test_dead_letters_are_found_by_fields_id_and_context(of: Any, client: Any, clock: TestClock) -> None:
    queue = client.blocking_queue("orders", JsonJacksonCodec())
    delayed = client.delayed_queue(queue)
    delayed.offer({"order": 1}, 60, id="first", context={"trace": "00-4b"})
    clock.advance(60)
    queue.receive().reject("no such customer")
    letter = of(assert_dead, queue, fields={"order": 1}, reason="customer", id="first", context={"trace": "00-4b"})
    assert letter.offer_id == "first"
    with pytest.raises(AssertionError, match=r"no dead letter is like .*\n.*\n  it differs in id: 'first', not 's"):
        of(assert_dead, queue, id="second")


def test_a_wrong_handle_is_named() -> None:
    with pytest.raises(ArgumentError, match="items wait in delayed queues"):
        assert_offered(object(), 1)
    with pytest.raises(ArgumentError, match="one queue at least"):
        assert_offered([], 1)


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


@attrs.frozen
class Order:
    number: int


def test_one_value_is_handled_without_a_server(flavour: Flavour, of: Any) -> None:
    worker = flavour.worker_of("redis://nowhere.invalid:1/0")

    @worker.per_item
    def database(client: Any) -> Any:
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
    with pytest.raises(ArgumentError, match="makes no client, as no worker runs"):
        of(handle_one, worker, Order(7))
    with pytest.raises(ArgumentError, match="no handler takes 3"):
        of(handle_one, worker, 3)
    with pytest.raises(ArgumentError, match="an event has no atempt"):
        make_event("a", atempt=2)
