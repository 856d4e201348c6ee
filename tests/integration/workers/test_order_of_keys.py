"""Values of one key begin in the order in which they became ready, under every limit and rate by key."""

from __future__ import annotations

import itertools
import json
import random
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

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
from tests.integration.admitting import Opened, opened, told, words_of
from tests.integration.conftest import KEYS

HOME = "{h}"
SECOND = 1_000_000
BY = Admission(name="h", limit=Limit(2, by="customer"))
RATE = Rate(4, per=1, burst=2, by="customer")
ALL = {
    "one": Admission(name="h", limit=Limit(1, by="customer")),
    "two": BY,
    "rate": Admission(name="h", rate=RATE),
    "turns": Admission(name="h", turns="customer"),
}


class Shop:
    """Two queues of one home, whose scripts have the time that the test says."""

    def __init__(self, admin: Any, client: Any, by: Admission) -> None:
        self.admin, self.by = admin, by
        self.queues = [opened(client), opened(client, "bills")]
        self.made: dict[str, int] = defaultdict(int)
        self.held: list[tuple[Opened, Any]] = []
        #: By queue and customer: the numbers of the values that began, once each.
        self.begun: dict[tuple[str, str], list[int]] = defaultdict(list)
        #: The values that another program took.
        self.taken: set[tuple[str, int]] = set()

    def add(self, customer: str, count: int = 1, queue: int = 0) -> None:
        for _ in range(count):
            self.queues[queue].add(json.dumps({"customer": customer, "number": self.made[customer]}))
            self.made[customer] += 1

    def begin(self, count: int = 1, queue: int = 0, visible: float = 3600) -> list[int]:
        """One look and one admission. Returns the numbers of the values that begin."""
        found = []
        source = self.queues[queue].source(visible, words_of(self.by, HOME))
        seen = self.queues[queue].connections.run(source.peek(1000))
        for each in told(self.queues[queue], self.by, count, visible, HOME, seen)[1]:
            self.held.append((self.queues[queue], each))
            order = json.loads(each.value)
            found.append(order["number"])
            begun = self.begun[self.queues[queue].queue.name, order["customer"]]
            if order["number"] not in begun:
                begun.append(order["number"])
        return found

    def take(self, queue: int) -> None:
        """As Java's take() does it."""
        if (value := self.admin.lpop(self.queues[queue].queue.name)) is not None:
            order = json.loads(value)
            self.taken.add((order["customer"], order["number"]))

    def ack(self, *places: int) -> None:
        for place in places or range(len(self.held)):
            self.held[place][1].ack()
        self.held = [each for i, each in enumerate(self.held) if places and i not in places]

    def nack(self, place: int, *args: Any, **terms: Any) -> None:
        self.held.pop(place)[1].nack(*args, **terms)

    def later(self, us: int) -> None:
        """What is due then is moved, in due order."""
        now_us = int(self.admin.get(CLOCK_KEY)) + us
        self.admin.set(CLOCK_KEY, now_us)
        for queue in self.queues:
            keys = queue.queue.keys
            for member in self.admin.zrangebyscore(keys.timeout, "-inf", now_us // 1000):
                self.admin.zrem(keys.timeout, member)
                self.admin.rpush(keys.ready, unwrap(member)[1])

    @property
    def all_came(self) -> bool:
        came = {(customer, number) for (_, customer), begun in self.begun.items() for number in begun}
        return len(came | self.taken) == sum(self.made.values())

    def check_order(self) -> None:
        """A value that waited for its key joins the others of its customer later."""
        for (queue, customer), begun in self.begun.items():
            for key in ("",) if self.by.key is None else (0, 1, 2):
                of_key = [each for each in begun if self.by.key is None or _is_of(self.by, customer, each, key)]
                assert of_key == sorted(of_key), (queue, customer)


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


LIMITS = {"": None, "limit of each": Limit(2, by="customer"), "limit of all": Limit(3)}
RATES = {"": None, "rate of each": RATE, "rate of all": Rate(6, per=1, burst=3)}
TURNS = {"": None, "turns": "customer"}
KEYS_OF = {
    "": None,
    "key": lambda value: json.loads(value)["customer"],
    "finer key": lambda value: f"{json.loads(value)['customer']}{json.loads(value)['number'] % 3}",
    "key of other customers": lambda value: json.loads(value)["number"] % 3,
}
COMBINED = {
    ", ".join(filter(None, names)): Admission(
        name="h", limit=LIMITS[names[0]], rate=RATES[names[1]], turns=TURNS[names[2]], key=KEYS_OF[names[3]]
    )
    for names in itertools.product(LIMITS, RATES, TURNS, KEYS_OF)
    if "each" in f"{names}" or names[2]
}


def _is_of(by: Admission, customer: str, number: int, key: object) -> bool:
    """Whether a value has the key by which it goes on one at a time."""
    return by.key is KEYS_OF["key"] or number % 3 == key


@pytest.mark.parametrize("seed", [0, *map(by_night, range(1, 10))])
@pytest.mark.parametrize("name", [name if i % 10 == 4 else by_night(name) for i, name in enumerate(COMBINED)])
def test_any_events_in_any_order(make: Any, name: str, seed: int) -> None:
    walk(make, name, seed)


def walk(make: Any, name: str, seed: int) -> None:
    """Nothing stays parked while it may begin: no lease ends by itself at the end, and no parked value becomes due."""
    shop, chance = make(COMBINED[name]), random.Random(f"{name} {seed}")
    for _ in range(80):
        _any_event(shop, chance)
        shop.check_order()
    for _ in range(200):
        shop.ack()
        shop.later(SECOND // 2)
        for queue in (0, 1):
            shop.begin(1000, queue)
        shop.check_order()
        if shop.all_came and not shop.held:
            return
    pytest.fail(f"values do not come: {shop.begun}")


def _any_event(shop: Shop, chance: random.Random) -> None:
    queue, customer, step = chance.randrange(2), chance.choice("ab"), chance.random()
    place = chance.randrange(len(shop.held)) if shop.held else 0
    if step < 0.25:
        shop.add(customer, chance.randint(1, 4), queue)
    elif step < 0.6:
        shop.begin(chance.randint(1, 3), queue, chance.choice([3600] * 9 + [5]))
    elif step < 0.75 and shop.held:
        shop.ack(*{chance.randrange(len(shop.held)) for _ in range(chance.randint(1, 3))})
    elif step < 0.8 and shop.held:
        shop.nack(place, count=False)
    elif step < 0.85 and shop.held:
        shop.nack(place, chance.choice([0, 0.01]))
    elif step < 0.87 and shop.by.key is None:
        # The next one of a key= would go on at its own time.
        shop.take(queue)
    elif step < 0.9:
        # A receiver comes too late for a value that was moved to it.
        keys = shop.queues[queue].queue.keys
        shop.admin.lmove(keys.ready, keys.arrivals, "LEFT", "RIGHT")
    else:
        shop.later(round(chance.choice([0.001, 0.25, 1, 1, 6]) * SECOND))


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


def test_a_value_called_up_keeps_its_place_until_it_begins(make: Any) -> None:
    """No value gets a place that is still that of another: it would wait for as long as a lease."""
    shop = make(ALL["one"])
    shop.add("a", 2)
    assert shop.begin(2) == [0]
    shop.ack()
    # The other queue has the slot before the value comes, and a new one comes before it too.
    shop.add("a", 1, 1)
    assert shop.begin(1, 1) == [2]
    shop.add("a")
    assert shop.admin.lmove(KEYS.ready, KEYS.arrivals, "RIGHT", "RIGHT")
    assert shop.begin(2) == []
    for number in (1, 3):
        shop.ack()
        assert shop.begin(2) == [number]
