"""Loads with everything that a queue has only on demand: limits and rates by key, turns of customers, a history,
encrypted values, saved cursors, all missed occurrences, and the demand by which workers are scaled.
"""

from __future__ import annotations

import os
import random
import time
from collections import defaultdict, deque
from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime, timedelta, timezone
from typing import Any, ClassVar

from redisson_dq.cli.demand import DemandPage
from redisson_dq.codecs import Codec, EncryptedCodec, StringCodec
from redisson_dq.errors import RedissonDQError
from redisson_dq.prometheus import Collector
from redisson_dq.prometheus.demand import HandlingTimes
from redisson_dq.worker import Limit, Rate, Succeeded
from tests.faults.lease_loads import NEARLY_OVER, VISIBLE, Workers
from tests.faults.loads import LOADS

__all__: list[str] = []

_KEYS = 10
_SLOTS = 2
_MARK = b"|"
# How long a value may be in a reply that was lost, until its lease ends; then so many of another customer may begin.
_HIDDEN, _PASSED = 3 * VISIBLE, 60
# After how many seconds an item that was taken is looked for in the history, while its events are still kept.
_LOOKED_AFTER = 1.0


class _Marked(Codec[str]):
    """Encrypted values, each with its name in the clear: the world counts items without a key."""

    def __init__(self, inner: Codec[str]) -> None:
        self._inner = inner

    def encode(self, value: str) -> bytes:
        return value.encode() + _MARK + self._inner.encode(value)

    def decode(self, data: bytes) -> str:
        return self._inner.decode(data.partition(_MARK)[2])

    def sought(self, value: str) -> bytes:
        return self._inner.sought(value)

    def of_queue(self, name: str) -> Codec[str]:
        return _Marked(self._inner.of_queue(name))


def _key_of(name: str) -> int:
    return int(name.rpartition(":")[2]) % _KEYS


class Extras(Workers):
    """Workers of a queue with all of them, and what each of them promises."""

    handler_options: ClassVar[dict[str, Any]] = {
        # Some of them wait for a turn of their key while a backlog is worked off.
        "concurrency": 16,
        "limit": Limit(_SLOTS, by=_key_of),
        "rate": Rate(150, per=1, by=_key_of),
    }

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.codec = _Marked(EncryptedCodec(StringCodec(), {"2026-11": os.urandom(32), "2026-10": os.urandom(16)}))
        #: By item: the cursors that its next attempt may find.
        self._cursors: dict[str, set[int | None]] = {}
        #: By key: the deliveries that are handled now, each with the time since when.
        self._running: dict[int, list[tuple[Any, float]]] = defaultdict(list)
        self._done: deque[tuple[float, str]] = deque(maxlen=1000)

    def start(self) -> None:
        super().start()
        self._keeps_history = False
        self._page = DemandPage(
            self.client, Collector(self.client, [self.queue_name]), 5.0, 60.0, HandlingTimes((), 0.01)
        )
        self._thread(self._take_all_the_time, self._look, random.Random(self._rng.random()))

    def burst(self, count: int) -> None:
        # A value by a limit of its key takes five times the CPU of another one.
        super().burst(count // 5)

    def _offer(self) -> None:
        if self._rng.random() < 0.7:
            super()._offer()
            return
        # Not in the past by the time that it is asked for.
        delay = self._delay() + 0.2
        name = self.ledger.next(delay)
        start = datetime.fromtimestamp(self._world.clock() + delay, timezone.utc)
        day = timedelta(days=1)
        offer = self.delayed.offer_recurring
        self._told([name], lambda: offer(name, name, every=day, start=start, end=start, missed="all"))

    # -- the handler -------------------------------------------------------------------------------------------------

    def _handle(self, value: str, event: Any) -> None:
        possible = self._cursors.setdefault(value, {None})
        if event.cursor not in possible and not self.ledger.pardons:
            self.ledger.found("cursor", f"{value} has the cursor {event.cursor}, and was left with {possible}")
        running = self._running[_key_of(value)]
        mine = event.delivery, time.time()
        running.append(mine)
        try:
            self._count(tuple(running))
            if self._chance.random() < 0.3:
                cursor = self._chance.randrange(1_000_000)
                possible.add(cursor)
                with suppress(RedissonDQError):
                    if event.save(cursor):
                        self._cursors[value] = {cursor}
            super()._handle(value, event)
        finally:
            running.remove(mine)

    def _count(self, running: Iterable[tuple[Any, float]]) -> None:
        # A step of the clock ends leases in Redis, and their holders learn of it with the next reply.
        held = [
            delivery
            for delivery, since in running
            if since > self._world.stepped and delivery.remaining.total_seconds() > NEARLY_OVER
        ]
        if len(held) > _SLOTS and not self.ledger.pardons:
            self.ledger.found("limit", f"{len(held)} values of one key are handled at a time")

    def _happened(self, happening: Any) -> None:
        super()._happened(happening)
        if isinstance(happening, Succeeded):
            self._done.append((time.monotonic(), happening.event.value))
            self._cursors.pop(happening.event.value, None)

    # -- looking -----------------------------------------------------------------------------------------------------

    def _look(self, rng: random.Random) -> None:
        """Looks at the demand, and at the history of an item that was done with."""
        time.sleep(rng.uniform(0.05, 0.2))
        if not self._keeps_history:
            self.delayed.set_history(5000)
            self._keeps_history = True
            self._done.clear()
        for demand in self._page.document()["queues"].values():
            if demand["slots"] < 0:
                self.ledger.found("demand", str(demand))
        if not self._done:
            return
        at, name = self._done.popleft()
        time.sleep(max(0.0, at + _LOOKED_AFTER - time.monotonic()))
        events = [event.what for event in self.delayed.history(name)]
        # Without memory nothing is noted, and after a loss of writes less.
        if events and "done" not in events and not self.ledger.pardons and not self.refused:
            self.ledger.found("history", f"{name} is done with, and its events are {events}")


def _customer_of(name: str) -> int:
    """Most values are of customer 0."""
    return max(0, int(name.rpartition(":")[2]) % 20 - 15)


class Turns(Workers):
    """Workers of a queue whose customers take turns, one of whom has most of the values."""

    handler_options: ClassVar[dict[str, Any]] = {"concurrency": 4, "turns": _customer_of}

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        #: When values of customer 0 began.
        self._noisy: deque[float] = deque(maxlen=1000)

    def burst(self, count: int) -> None:
        # Four values at a time are worked off, for some 10 ms each.
        super().burst(count // 6)

    def _consume(self) -> None:
        super()._consume()
        self._thread(self._watch)

    def _handle(self, value: str, event: Any) -> None:
        if _customer_of(value) == 0:
            self._noisy.append(time.time())
        super()._handle(value, event)

    def _watch(self) -> None:
        """Looks for values of other customers that have waited while values of customer 0 began."""
        while not self._closing:
            time.sleep(0.3)
            for item in self.ledger.never_begun(time.time() - _HIDDEN):
                passed = sum(at > item.offered + item.delay + _HIDDEN for at in list(self._noisy))
                if _customer_of(item.name) and passed > _PASSED and not self.ledger.pardons and not self._world.skews:
                    self.ledger.found("turn", f"{item.name} has waited while {passed} values of another customer began")


LOADS["extras"] = Extras
LOADS["turns"] = Turns
