"""Values of one key begin in the order in which they became ready, under every limit and rate by key."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import attrs
import pytest
import redis

import redisson_dq
from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.testing import TestClock
from redisson_dq.testing._scripts import CLOCK_KEY
from redisson_dq.wire.envelope import unwrap
from redisson_dq.working.limits import Admission, Limit, Rate
from tests.conftest import by_night
from tests.integration.admitting import Opened, admit, opened
from tests.integration.conftest import KEYS

HOME = "{h}"
SECOND = 1_000_000
BY = Admission(name="h", limit=Limit(2, by="customer"))
RATE = Rate(4, per=1, burst=2, by="customer")
ALL = {
    "one": Admission(name="h", limit=Limit(1, by="customer")),
    "two": BY,
    "four": Admission(name="h", limit=Limit(4, by="customer")),
    "rate": Admission(name="h", rate=RATE),
    "both": attrs.evolve(BY, rate=RATE),
    "rate of each, limit of all": Admission(name="h", limit=Limit(3), rate=RATE),
    "limit of each, rate of all": attrs.evolve(BY, rate=Rate(6, per=1, burst=3)),
    "turns": Admission(name="h", turns="customer"),
    "turns and limit": attrs.evolve(BY, turns="customer"),
    "turns and rate": Admission(name="h", turns="customer", rate=RATE),
    "turns and limit of all": Admission(name="h", turns="customer", limit=Limit(3)),
}


BY_DAY = ("both", "rate of each, limit of all", "turns and rate")


class Shop:
    """Two queues of one home, whose scripts have the time that the test says."""

    def __init__(self, admin: Any, client: Any, by: Admission) -> None:
        self.admin, self.by = admin, by
        self.queues = [opened(client), opened(client, "bills")]
        self.made: dict[str, int] = defaultdict(int)
        self.held: list[tuple[Opened, Any]] = []
        #: By queue and customer: the numbers of the values that began, once each.
        self.begun: dict[tuple[str, str], list[int]] = defaultdict(list)

    def add(self, customer: str, count: int = 1, queue: int = 0) -> None:
        for _ in range(count):
            self.queues[queue].add(json.dumps({"customer": customer, "number": self.made[customer]}))
            self.made[customer] += 1

    def begin(self, count: int = 1, queue: int = 0) -> list[int]:
        """One look and one admission. Returns the numbers of the values that begin."""
        found = []
        for each in admit(self.queues[queue], self.by, count, home=HOME):
            self.held.append((self.queues[queue], each))
            order = json.loads(each.value)
            found.append(order["number"])
            begun = self.begun[self.queues[queue].queue.name, order["customer"]]
            if order["number"] not in begun:
                begun.append(order["number"])
        return found

    def ack(self, *places: int) -> None:
        for place in places or range(len(self.held)):
            self.held[place][1].ack()
        self.held = [each for i, each in enumerate(self.held) if places and i not in places]

    def later(self, us: int) -> None:
        """What is due then is moved, in due order."""
        now_us = int(self.admin.get(CLOCK_KEY)) + us
        self.admin.set(CLOCK_KEY, now_us)
        for queue in self.queues:
            keys = queue.queue.keys
            for member in self.admin.zrangebyscore(keys.timeout, "-inf", now_us // 1000):
                self.admin.zrem(keys.timeout, member)
                self.admin.rpush(keys.ready, unwrap(member)[1])

    def check_order(self) -> None:
        for key, begun in self.begun.items():
            assert begun == sorted(begun), key


@pytest.fixture
def make(server: EmbeddedServer) -> Iterator[Any]:
    with ExitStack() as ends:
        admin = redis.Redis.from_url(server.url)
        ends.callback(admin.close)
        ends.enter_context(TestClock(server.url))
        client = ends.enter_context(redisson_dq.connect(server.url, codec=StringCodec()))
        yield lambda by: Shop(admin, client, by)


def test_values_that_are_called_up_one_after_the_other(make: Any) -> None:
    shop = make(BY)
    shop.add("a", 8)
    assert shop.begin(8) == [0, 1]
    shop.ack(0)
    shop.ack(0)
    assert [*shop.begin(1), *shop.begin(1)] == [2, 3]


def test_a_value_that_finds_its_slot_taken_keeps_its_place(make: Any) -> None:
    """The slot went to the other queue."""
    shop = make(ALL["one"])
    for queue in (0, 1):
        shop.add("a", 3, queue)
        shop.begin(3, queue)
    assert len(shop.held) == 1
    shop.ack(0)
    assert shop.begin(1, 1) == [3]
    assert shop.begin(1, 0) == []
    shop.ack(0)
    assert shop.begin(1, 0) == [1]


@pytest.mark.parametrize("by", [BY, ALL["rate"], ALL["turns"]], ids=["limit", "rate", "turns"])
def test_what_a_worker_hands_back_when_it_stops_is_first(make: Any, by: Admission) -> None:
    shop = make(by)
    shop.add("a", 6)
    first = shop.begin(2)
    for _, delivery in shop.held:
        delivery.nack(count=False)
    shop.held.clear()
    again = shop.begin(2)
    while len(again) < len(first):
        shop.later(SECOND // 4)
        again += shop.begin(2)
    assert sorted(again) == first


def test_a_new_value_takes_no_token_of_one_that_waits(make: Any) -> None:
    shop = make(ALL["rate"])
    shop.add("a", 3)
    assert shop.begin(3) == [0, 1]
    shop.add("a")
    shop.later(SECOND)
    while len(shop.begun["orders", "a"]) < 4:
        shop.begin(1)
        shop.later(SECOND // 4)
    shop.check_order()


@pytest.mark.parametrize("seed", [0, *map(by_night, range(1, 25))])
@pytest.mark.parametrize(
    "name",
    [name if name in ("both", "rate of each, limit of all", "turns and rate") else by_night(name) for name in ALL],
)
def test_any_events_in_any_order(make: Any, name: str, seed: int) -> None:
    shop, chance = make(ALL[name]), random.Random(seed)
    for _ in range(80):
        _any_event(shop, chance)
        shop.check_order()
    for number in range(200):
        shop.ack()
        shop.later((1 if number < 20 else 61) * SECOND)
        for queue in (0, 1):
            shop.begin(1000, queue)
        shop.check_order()
        if sum(map(len, shop.begun.values())) == sum(shop.made.values()):
            return
    pytest.fail(f"values do not come: {shop.begun}")


def _any_event(shop: Shop, chance: random.Random) -> None:
    queue, customer, step = chance.randrange(2), chance.choice("ab"), chance.random()
    if step < 0.25:
        shop.add(customer, chance.randint(1, 4), queue)
    elif step < 0.6:
        shop.begin(chance.randint(1, 3), queue)
    elif step < 0.8 and shop.held:
        shop.ack(*{chance.randrange(len(shop.held)) for _ in range(chance.randint(1, 3))})
    elif step < 0.85 and shop.held:
        shop.held.pop(chance.randrange(len(shop.held)))[1].nack(count=False)
    else:
        shop.later(round(chance.choice([0.001, 0.25, 1, 1, 30, 61]) * SECOND))


@pytest.mark.parametrize("name", ["two", "turns"])
def test_a_value_called_up_comes_to_another_client_after_a_new_one(make: Any, name: str) -> None:
    shop = make(ALL[name])
    shop.add("a", 3)
    first = shop.begin(2)
    # The others are parked.
    shop.begin(0 if shop.by.turns else 9)
    shop.add("a")
    assert shop.admin.lmove(KEYS.ready, KEYS.arrivals, "RIGHT", "RIGHT")
    shop.ack(0)
    assert shop.admin.lmove(KEYS.ready, KEYS.arrivals, "LEFT", "RIGHT")
    assert [*shop.begin(1), *shop.begin(1)][:1] == [len(first)]
