"""Loads that receive under leases: ack, nack, hand back, reject, extend, renew, and leases that are left to expire.

An item counts as taken when its ack was answered with ACKED. Each offered item is acked, or is in Redis: ready,
waiting, in flight or dead. If an item is gone without that, an ack has had no answer. An item is delivered again only
if nobody holds it under a lease that still lasts.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from redisson_dq.errors import ClosedError, RedisConnectionError, RedissonDQError
from redisson_dq.worker import Lost, Retry, Succeeded
from tests.faults.loads import LOADS, Asyncio, Load, kind_of
from tests.faults.rules import LEASED
from tests.flavours import AsyncioFlavour
from tests.proof.history import Call
from tests.proof.recording import epoch_ms

__all__ = ["NEARLY_OVER", "VISIBLE", "Workers"]

# The seconds of a lease, and the seconds at its end in which another receiver may already have the item.
VISIBLE = 2.0
NEARLY_OVER = 0.5


class Leases(Load):
    """Receivers of every kind, in threads."""

    rules = LEASED
    consumers: ClassVar[tuple[str, ...]] = ("receive", "receive_many", "short_receive", "renewed", "redrive")
    endless = ("_receive",)
    queue_options: ClassVar[dict[str, Any]] = {"delivery_limit": None}

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._mutex = threading.Lock()
        self._held: dict[str, Any] = {}

    # -- receiving ---------------------------------------------------------------------------------------------------

    def _receive(self, rng: random.Random) -> None:
        self._work([self.queue.receive(visibility_timeout=VISIBLE)], rng)

    def _receive_many(self, rng: random.Random) -> None:
        timeout, limit = rng.uniform(0.1, 0.9), rng.choice((2, 10, 300))
        receive = self.queue.receive
        self._work(self._within(timeout, lambda: receive(limit, timeout=timeout, visibility_timeout=VISIBLE)), rng)

    def _short_receive(self, rng: random.Random) -> None:
        timeout = rng.choice((0.0, rng.uniform(0.001, 0.3)))
        receive = self.queue.receive
        found = self._within(timeout, lambda: receive(timeout=timeout, visibility_timeout=VISIBLE))
        self._work([] if found is None else [found], rng)

    def _renewed(self, rng: random.Random) -> None:
        """Works for longer than the lease lasts."""
        found = self.queue.receive(3, timeout=0.5, visibility_timeout=0.6, renew=True)
        self._note(found)
        time.sleep(rng.uniform(0.0, 1.0))
        for each in found:
            self._ack(each)

    def _redrive(self, rng: random.Random) -> None:
        """Redrives dead letters."""
        time.sleep(rng.uniform(0.1, 0.5))
        for queue in getattr(self.queue, "partitions", [self.queue]):
            queue.redrive()

    # -- ending the leases -------------------------------------------------------------------------------------------

    def _note(self, deliveries: Sequence[Any]) -> None:
        for each in deliveries:
            name = each.value
            self.ledger.delivered(name)
            with self._mutex:
                before = self._held.get(name)
                self._held[name] = each
            if before is not None and not before.lost and before.remaining.total_seconds() > NEARLY_OVER:
                self.ledger.held_twice(name)

    def _end(self, delivery: Any) -> None:
        with self._mutex:
            held = self._held.pop(delivery.value, None)
            if held is not None and held is not delivery:
                # The lease has ended, and another receiver has the item.
                self._held[delivery.value] = held

    def _work(self, deliveries: Sequence[Any], rng: random.Random) -> None:
        self._note(deliveries)
        if len(deliveries) > 1 and rng.random() < 0.5:
            for each in deliveries:
                self._end(each)
            self._settle([each.value for each in deliveries], lambda: self.queue.ack_all(deliveries))
            return
        for each in deliveries:
            kind = rng.random()
            if kind < 0.6:
                self._ack(each)
            elif kind < 0.97:
                self._give_up(each, rng)
            # Otherwise the lease runs until its deadline.

    def _ack(self, delivery: Any) -> None:
        self._end(delivery)
        self._settle([delivery.value], lambda: [delivery.ack()])

    def _settle(self, names: Sequence[str], acks: Callable[[], Sequence[Any]]) -> None:
        """Sends acks. An ack without an answer is sent again; then LOST says nothing about the first one."""
        for _ in range(2):
            try:
                outcomes = acks()
            except ClosedError:
                raise
            except RedissonDQError as error:
                if not isinstance(error, RedisConnectionError):
                    self.refused.add(kind_of(error))
                if getattr(error, "maybe_done", False):
                    for name in names:
                        self.ledger.maybe_acked(name)
                continue
            self.ledger.took([name for name, outcome in zip(names, outcomes, strict=True) if outcome])
            return

    def _give_up(self, delivery: Any, rng: random.Random) -> None:
        calls: list[Callable[[], Any]] = [
            delivery.nack,
            lambda: delivery.nack(delay=rng.random() * 0.1, reason="later"),
            lambda: delivery.nack(count=False),
            delivery.reject,
        ]
        try:
            if rng.random() < 0.3:
                delivery.extend(VISIBLE)
            self._end(delivery)
            rng.choice(calls)()
        except ClosedError:
            raise
        except RedissonDQError as error:
            if not isinstance(error, RedisConnectionError):
                self.refused.add(kind_of(error))


class AsyncioLeases(Leases, Asyncio):
    """The same with asyncio, where tasks are cancelled at random moments and at each await."""

    consumers: ClassVar[tuple[str, ...]] = (*Leases.consumers, "cancelled_receive", "cancelled_receive")

    def _cancelled_receive(self, rng: random.Random) -> None:
        """A cancelled receive hands back the values that it got."""
        assert isinstance(self._flavour, AsyncioFlavour)
        receive = self.queue.inner.receive
        calls: list[Callable[[], Any]] = [
            lambda: receive(10, timeout=0.2, visibility_timeout=VISIBLE),
            lambda: receive(10, timeout=5.0, visibility_timeout=VISIBLE),
            lambda: receive(10, timeout=0, visibility_timeout=VISIBLE),
        ]
        call, found = rng.choice(calls), []

        async def told() -> None:
            found.extend(await call())

        self._cancel(told, rng)
        self._work([each.bridged(self._flavour.bridge) for each in found], rng)


class Workers(Load):
    """Workers whose handlers sometimes fail."""

    rules = LEASED
    queue_options: ClassVar[dict[str, Any]] = {"delivery_limit": None}
    handler_options: ClassVar[dict[str, Any]] = {"concurrency": 4}

    def start(self) -> None:
        self._chance = random.Random(self._rng.random())
        super().start()

    def _consume(self) -> None:
        self._began = time.monotonic_ns()
        # By lease: the call that ends it.
        self._ending: dict[str, Call] = {}
        self._worker = self._flavour.worker(self.client, visibility_timeout=VISIBLE)
        retry = Retry(limit=None, backoff=0.05)
        self._worker.handler(self.queue_name, retry=retry, **self.handler_options)(self._handle)
        self._worker.on()(self._happened)
        self._worker.start()

    def close(self) -> None:
        self._closing = True
        self._worker.stop()
        super().close()

    def _handle(self, value: str, event: Any) -> None:
        self.ledger.delivered(value)
        delivery = event.delivery
        row = [value, event.id, epoch_ms(delivery.received), epoch_ms(delivery.deadline)]
        self._begun("receive", 1, at=self._began).ok([row])
        time.sleep(self._chance.uniform(0.0, 0.02))
        fails = self._chance.random() < 0.1
        self._ending[event.id] = self._begun("nack" if fails else "ack", [[value, event.id]])
        if fails:
            raise ValueError("now and then")

    def _happened(self, happening: Any) -> None:
        if isinstance(happening, Succeeded):
            self._ending.pop(happening.id).ok(["acked"])
            self.ledger.took([happening.event.value])
        elif isinstance(happening, Lost) and happening.event is not None:
            self.ledger.maybe_acked(happening.event.value)


class AsyncioWorkers(Workers, Asyncio):
    """The same with asyncio."""


class LeasePartitions(Leases):
    """The same on a queue of four partitions."""

    partitions = 4


LOADS["workers"] = Workers
LOADS["asyncioworkers"] = AsyncioWorkers
LOADS["leases"] = Leases
LOADS["asyncioleases"] = AsyncioLeases
LOADS["leasepartitions"] = LeasePartitions
