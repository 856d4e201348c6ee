"""Any calls on named items in any order, with few different values: no name is lost or given to another item."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest
import redis

from redisson_dq import ItemState, Outcome, SettleOutcome, connect
from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import DuplicateItemError
from tests.integration.conftest import KEYS
from tests.integration.leases.test_leases_machine import HOUR, JAVA_TRANSFER
from tests.integration.whereabouts import whereabouts

VALUES = ["a", "b"]
WAITS = (ItemState.WAITING, ItemState.RETRYING, ItemState.PARKED)


class Orders:
    """Time passes when a rule makes Java move whatever waits."""

    def __init__(self, url: str, chance: random.Random) -> None:
        self.chance = chance
        self.admin: Any = redis.Redis.from_url(url)
        self.admin.flushall()
        self.client = connect(url, codec=StringCodec())
        self.queue = self.client.blocking_queue("orders", transfer=False, delivery_limit=None)
        self.delayed = self.client.delayed_queue("orders", transfer=False)
        self.made = 0
        #: The names of items that are not settled, and how often each was delivered.
        self.names: dict[str, str] = {}
        self.attempts: Counter[str] = Counter()
        self.held: dict[str, Any] = {}
        self.dead: set[str] = set()
        #: Deliveries of items that were cancelled.
        self.void: list[tuple[Any, str]] = []

    def settled(self, name: str) -> None:
        del self.names[name]
        self.dead.discard(name)
        self.held.pop(name, None)

    # -- rules -------------------------------------------------------------------------------------------------------

    def offer(self) -> None:
        value, now = self.chance.choice(VALUES), self.chance.random() < 0.5
        name = f"n{self.made}"
        self.made += 1
        self.delayed.offer(value, 0 if now else HOUR, id=name)
        self.names[name] = value

    def offer_again(self) -> None:
        how: Any = self.chance.choice(["reject", "keep", "replace"])
        name = self.chance.choice(sorted(self.names))
        try:
            item = self.delayed.offer("b", HOUR, id=name, on_duplicate=how)
        except DuplicateItemError:
            assert how == "reject"
            return
        assert item.outcome is not None
        assert item.outcome.value == {"keep": "kept", "replace": "replaced"}[how]
        if how == "replace":
            self.cancelled(name)
            self.names[name] = "b"

    def java_moves_all(self) -> None:
        for member, score in self.admin.zrange(KEYS.timeout, 0, -1, withscores=True):
            if self.admin.zscore(KEYS.leases, member[1:11] if member[0] == 10 else member[:8]) is None:
                for item in self.delayed.items(0, 999):
                    item.run_now()
                break
            assert score > 0
        self.admin.eval(JAVA_TRANSFER, 3, KEYS.ready, KEYS.timeout, KEYS.envelopes, self.now_ms())

    def now_ms(self) -> int:
        seconds, micros = self.admin.time()
        return int(seconds * 1000 + micros // 1000 + 1)

    def receive(self) -> None:
        delivery = self.queue.receive(timeout=0, visibility_timeout=HOUR)
        if delivery is None:
            assert self.admin.llen(KEYS.ready) == 0
            return
        name = delivery.offer_id
        assert name is not None
        assert name not in self.held
        assert self.names[name] == delivery.value
        self.attempts[name] += 1
        assert delivery.attempt == self.attempts[name]
        self.held[name] = delivery

    def end(self) -> None:
        how = self.chance.choice(["ack", "nack", "later", "parked", "reject"])
        name = self.chance.choice(sorted(self.held))
        delivery = self.held.pop(name)
        if how == "ack":
            assert delivery.ack() is SettleOutcome.ACKED
            self.settled(name)
            assert self.delayed.cancel(name) is Outcome.DELIVERED
        elif how == "nack":
            assert delivery.nack() is SettleOutcome.RETURNED
        elif how == "later":
            assert delivery.nack(delay=HOUR) is SettleOutcome.DELAYED
        elif how == "parked":
            assert delivery.nack(delay=HOUR, count=False) is SettleOutcome.DELAYED
            self.attempts[name] -= 1
        else:
            assert delivery.reject("no") is SettleOutcome.DEAD_LETTERED
            self.dead.add(name)

    def end_void(self) -> None:
        delivery, _ = self.void.pop(self.chance.randrange(len(self.void)))
        assert (delivery.nack() if self.chance.random() < 0.5 else delivery.ack()) in (
            SettleOutcome.CANCELLED,
            SettleOutcome.ACKED,
        )

    def cancel(self) -> None:
        name = self.chance.choice(sorted(self.names))
        assert self.delayed.cancel(name) is Outcome.CANCELLED
        assert self.delayed.cancel(name) is Outcome.UNKNOWN
        self.cancelled(name)

    def cancelled(self, name: str) -> None:
        if name in self.held:
            self.void.append((self.held[name], self.names[name]))
        self.settled(name)
        del self.attempts[name]

    def reschedule(self) -> None:
        now = self.chance.random() < 0.5
        name = self.chance.choice(sorted(self.names.keys() - self.held.keys()))
        assert self.delayed.reschedule(name, 0 if now else 2 * HOUR) is Outcome.RESCHEDULED
        if name in self.dead:
            self.dead.discard(name)
            self.attempts[name] = 0

    def redrive(self) -> None:
        assert self.queue.redrive().count == len(self.dead)
        for name in self.dead:
            self.attempts[name] = 0
        self.dead.clear()

    def plain_take(self) -> None:
        data = self.admin.lpop(KEYS.ready)
        if data is not None:
            gone = [name for name in self.names if self.delayed.find(name) is None]
            assert [self.names[name] for name in gone] == [data.decode()]
            # Java moved it a moment before its time, as its clock is ahead here.
            assert self.delayed.cancel(gone[0]) in (Outcome.DELIVERED, Outcome.UNKNOWN)
            self.settled(gone[0])

    def clear(self) -> None:
        states = {name: self.delayed.find(name).state for name in self.names}  # type: ignore[union-attr]
        self.delayed.clear()
        for name, state in states.items():
            if state in WAITS:
                self.settled(name)
                del self.attempts[name]

    # -- what holds --------------------------------------------------------------------------------------------------

    def every_value_is_somewhere(self) -> None:
        expected = Counter(self.names.values()) + Counter(value for _, value in self.void)
        assert {key.decode(): count for key, count in whereabouts(self.admin).total.items()} == dict(expected)

    def every_name_is_found(self) -> None:
        for name, value in self.names.items():
            item = self.delayed.find(name)
            assert item is not None, name
            assert (item.id, item.value, item.attempts) == (name, value, self.attempts[name])
            assert (item.state is ItemState.LEASED) == (name in self.held)
            assert (item.state is ItemState.DEAD) == (name in self.dead)

    def step(self) -> None:
        calls = [self.offer, self.java_moves_all, self.receive, self.redrive, self.plain_take]
        calls += [self.offer_again, self.cancel] if self.names else []
        calls += [self.end, self.end] if self.held else []
        calls += [self.end_void] if self.void else []
        calls += [self.reschedule] if self.names.keys() - self.held.keys() else []
        calls += [self.clear] if self.chance.random() < 0.2 else []
        self.chance.choice(calls)()

    def close(self) -> None:
        self.client.close()
        self.admin.close()


@pytest.mark.parametrize("seed", range(20))
def test_any_calls_on_names(server: EmbeddedServer, seed: int) -> None:
    orders = Orders(server.url, random.Random(seed))
    try:
        for _ in range(80):
            orders.step()
            orders.every_value_is_somewhere()
            orders.every_name_is_found()
    finally:
        orders.close()
