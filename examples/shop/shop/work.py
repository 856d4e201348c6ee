"""Cancels orders that were not paid in time: ``redisson-dq worker shop.work:make_worker``."""

from __future__ import annotations

import logging
import os
from typing import Protocol

from redis import Redis
from redisson_dq.codecs import TypedJsonJacksonCodec
from redisson_dq.worker import Retry, Worker, exponential

from shop.java_classes import Order
from shop.orders import Orders

__all__ = ["Warehouse", "add_handlers", "make_worker"]

logger = logging.getLogger("shop")

# Up to 1 s, 2 s, 4 s and so on to an hour between two tries, for a day. Then the order is a dead letter.
RETRY = Retry(limit=None, backoff=exponential(1, 3600, jitter=True), max_age=24 * 3600)


class Warehouse(Protocol):
    def release(self, order: Order) -> None:
        """Makes the goods of an order free again. A second call for the same order changes nothing."""


class LoggingWarehouse:
    """Stands in for the warehouse's API."""

    def release(self, order: Order) -> None:
        logger.info("%s is cancelled: %d x %s are free again", order.number, order.quantity, order.sku)


def add_handlers(worker: Worker, orders: Orders, warehouse: Warehouse) -> None:
    worker.queue("unpaid", codec=TypedJsonJacksonCodec(Order))

    @worker.handler("unpaid", Order, concurrency=8, retry=RETRY, timeout=30)
    def cancel_unless_paid(order: Order) -> None:
        # Each step may be repeated: the process may die after any of them, and the order is delivered again.
        if orders.cancel_unless_paid(order):
            warehouse.release(order)


def make_worker() -> Worker:
    worker = Worker.connect()
    orders = Orders(Redis.from_url(os.environ["REDISSON_DQ_URL"], decode_responses=True))
    add_handlers(worker, orders, LoggingWarehouse())
    return worker
