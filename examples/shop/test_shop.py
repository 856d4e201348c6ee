"""Thirty minutes in milliseconds. ``redisson_dq.testing.java`` stands in for the checkout."""

from datetime import timedelta

import pytest
from redisson_dq.codecs import TypedJsonJacksonCodec
from redisson_dq.testing import assert_dead, assert_settled, java
from redisson_dq.worker import Worker

from shop.java_classes import Order
from shop.orders import Orders
from shop.work import add_handlers

ORDER = Order(number="A-42", sku="teapot", quantity=2)


class Warehouse:
    def __init__(self):
        self.is_open, self.calls, self.released = True, 0, []

    def release(self, order):
        self.calls += 1
        if not self.is_open:
            raise ConnectionError("the warehouse does not answer")
        self.released.append(order)


class Checkout:
    """What Checkout.java does, with the entries of a real Redisson."""

    def __init__(self, unpaid, redis):
        self.unpaid, self.redis = unpaid, redis

    def place(self, order):
        java.offered_by("4.3", self.unpaid, order, timedelta(minutes=30))
        self.redis.hset("orders", order.number, "open")

    def pay(self, number):
        self.redis.hset("orders", number, "paid")

    def state(self, number):
        return self.redis.hget("orders", number)


@pytest.fixture
def warehouse():
    return Warehouse()


@pytest.fixture
def unpaid(redisson_client):
    return redisson_client.blocking_queue("unpaid", TypedJsonJacksonCodec(Order))


@pytest.fixture
def checkout(redisson_client, redisson_server, unpaid):
    return Checkout(redisson_client.delayed_queue(unpaid), redisson_server.admin)


@pytest.fixture
def worker(redisson_client, redisson_clock, redisson_server, warehouse):
    worker = Worker(redisson_client)
    add_handlers(worker, Orders(redisson_server.admin), warehouse)
    with worker:
        yield worker


def test_an_order_that_nobody_pays_is_cancelled(worker, checkout, warehouse, unpaid, redisson_clock):
    checkout.place(ORDER)
    redisson_clock.advance(minutes=29, seconds=59)
    assert (checkout.state("A-42"), warehouse.released) == ("open", [])
    redisson_clock.advance(seconds=1)
    assert (checkout.state("A-42"), warehouse.released) == ("cancelled", [ORDER])
    assert_settled(unpaid)


def test_a_paid_order_is_left_alone(worker, checkout, warehouse, unpaid, redisson_clock):
    checkout.place(ORDER)
    redisson_clock.advance(minutes=29)
    checkout.pay("A-42")
    redisson_clock.advance(minutes=1)
    assert (checkout.state("A-42"), warehouse.released) == ("paid", [])
    assert_settled(unpaid)


def test_an_item_without_an_order_is_ignored(worker, checkout, warehouse, unpaid, redisson_clock):
    """The checkout died between the offer and the order."""
    java.offered_by("4.3", checkout.unpaid, ORDER, timedelta(minutes=30))
    redisson_clock.advance(minutes=30)
    assert warehouse.calls == 0
    assert_settled(unpaid)


def test_goods_are_released_when_the_warehouse_is_back(worker, checkout, warehouse, redisson_clock):
    warehouse.is_open = False
    checkout.place(ORDER)
    redisson_clock.advance(minutes=35)
    assert warehouse.calls > 1
    assert checkout.state("A-42") == "cancelled"
    warehouse.is_open = True
    redisson_clock.advance(hours=2)
    assert warehouse.released == [ORDER]


def test_a_dead_letter_after_a_day(worker, checkout, warehouse, unpaid, redisson_clock):
    warehouse.is_open = False
    checkout.place(ORDER)
    redisson_clock.advance(days=2)
    assert_dead(unpaid, ORDER, reason="the warehouse does not answer")
    warehouse.is_open = True
    unpaid.redrive()
    redisson_clock.advance(minutes=1)
    assert warehouse.released == [ORDER]


def test_java_reads_what_waits(checkout, unpaid):
    checkout.place(ORDER)
    assert java.reads(checkout.unpaid) == [ORDER]
