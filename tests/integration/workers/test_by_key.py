"""Limits and rates by key: each key has its own slots and tokens, and an idle key leaves nothing behind."""

from __future__ import annotations

import json
import random
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import attrs
import pytest
import redis

import redisson_dq
from redisson_dq.browsing import browse
from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import ArgumentError
from redisson_dq.java import JavaObject
from redisson_dq.scripts.script import load
from redisson_dq.testing import TestClock
from redisson_dq.testing._scripts import CLOCK_KEY, timed
from redisson_dq.wire.calls import LimitWords
from redisson_dq.wire.envelope import unwrap
from redisson_dq.working.handlers import declared
from redisson_dq.working.incoming import page
from redisson_dq.working.keys import BadKey, key_and_words, key_bytes
from redisson_dq.working.limits import Admission, Limit, Rate
from tests.conftest import by_night
from tests.integration.admitting import admit, opened, told, words_of
from tests.integration.conftest import KEYS

HOME = "{h}"
SLOTS, RATES = f"redisson_dq_slots:by:{HOME}", f"redisson_dq_rate:by:{HOME}"
BY = Admission(name="h", limit=Limit(2, by="customer"))
SECOND = 1_000_000


def order(customer: object, number: int = 0) -> str:
    return json.dumps({"customer": customer, "number": number})


class Shop:
    """A queue whose scripts have the time that the test says."""

    def __init__(self, admin: Any, client: Any) -> None:
        self.admin, self.client = admin, client
        self.queue = opened(client)
        self.delayed = client.delayed_queue("orders", transfer=False)

    def later(self, us: int) -> None:
        self.admin.set(CLOCK_KEY, int(self.admin.get(CLOCK_KEY) or 0) + us)

    def look(self, by: Admission) -> list[bytes]:
        return self.queue.connections.run(self.queue.source(limits=words_of(by, HOME)).peek(1000))

    def java_moves(self) -> None:
        """All that waits is ready."""
        for member in self.admin.zrange(KEYS.timeout, 0, -1):
            self.admin.rpush(KEYS.ready, unwrap(member)[1])
            self.admin.lrem(KEYS.envelopes, 1, member)
            self.admin.zrem(KEYS.timeout, member)

    def notes(self) -> dict[bytes, list[bytes]]:
        """What values are parked by, and their ids."""
        found: dict[bytes, list[bytes]] = {}
        for field, text in self.admin.hgetall(KEYS.turns).items():
            if field[:1] == b"p":
                found.setdefault(text.split(b"\0")[0].split(b" ", 1)[1], []).append(field[1:])
        return found

    def is_idle(self) -> bool:
        return not self.admin.exists(KEYS.lines, KEYS.turns, SLOTS, RATES)


@pytest.fixture
def shop(server: EmbeddedServer) -> Iterator[Shop]:
    with ExitStack() as ends:
        admin = redis.Redis.from_url(server.url)
        ends.callback(admin.close)
        ends.enter_context(TestClock(server.url))
        yield Shop(admin, ends.enter_context(redisson_dq.connect(server.url, codec=StringCodec())))


def customers(deliveries: list[Any]) -> list[object]:
    return [json.loads(each.value)["customer"] for each in deliveries]


def test_each_key_has_its_slots(shop: Shop) -> None:
    shop.queue.add_all([order(customer, number) for number in range(4) for customer in (71, 72)])
    first = admit(shop.queue, BY, home=HOME)
    assert customers(first) == [71, 72, 71, 72]
    assert {label: len(ids) for label, ids in shop.notes().items()} == {
        b"limit customer=71": 2,
        b"limit customer=72": 2,
    }
    assert first[0].ack()
    (called,) = admit(shop.queue, BY, home=HOME)
    assert json.loads(called.value) == {"customer": 71, "number": 2}, "the next of the same key, in order"
    held = [*first[1:], called]
    while held:
        assert held.pop(0).ack()
        held += admit(shop.queue, BY, home=HOME)
        assert max(Counter(customers(held)).values(), default=0) <= 2
    assert shop.is_idle()


def test_queues_of_one_home_share_the_slots_of_a_key(shop: Shop) -> None:
    bills = opened(shop.client, "bills")
    for queue in (shop.queue, bills):
        queue.add_all([order(71, 1), order(72, 2), order(71, 3)])
    held = admit(shop.queue, BY, home=HOME)
    assert customers(held) == [71, 72, 71]
    (other,) = admit(bills, BY, home=HOME)
    assert customers([other]) == [72]
    assert held[0].ack()
    more = admit(bills, BY, home=HOME)
    assert customers(more) == [71], "it was called up in the other queue"
    for each in (*held[1:], other, *more):
        assert each.ack()
    (last,) = admit(bills, BY, home=HOME)
    assert last.ack()
    assert shop.is_idle()


def test_a_dead_receiver_s_slot_is_free_and_leaves_nothing(shop: Shop) -> None:
    shop.queue.add_all([order(71, number) for number in range(3)])
    admit(shop.queue, BY, home=HOME)
    shop.later(61 * SECOND)
    shop.java_moves()
    again = admit(shop.queue, BY, home=HOME)
    assert len(again) == 2
    assert {label: len(ids) for label, ids in shop.notes().items()} == {b"limit customer=71": 1}
    while again:
        assert again.pop().ack()
        again += admit(shop.queue, BY, home=HOME)
    assert shop.is_idle()


def test_dead_receivers_of_many_keys_leave_nothing(shop: Shop) -> None:
    by = Admission(name="h", limit=Limit(5, by="customer"))
    shop.queue.add_all([order(customer) for customer in range(40)])
    assert len(admit(shop.queue, by, home=HOME)) == 40
    shop.later(61 * SECOND)
    shop.java_moves()
    again = admit(shop.queue, by, home=HOME)
    assert len(again) == 40
    shop.queue.ack_all(again)
    assert shop.is_idle()


def test_many_keys_that_waited_leave_nothing(shop: Shop) -> None:
    by = Admission(name="h", limit=Limit(1, by="customer"))
    shop.queue.add_all([order(customer, number) for number in range(2) for customer in range(40)])
    for _ in range(2):
        held = admit(shop.queue, by, home=HOME)
        assert len(held) == 40
        shop.queue.ack_all(held)
    assert shop.is_idle()


def test_the_next_of_a_key_goes_on_when_java_takes_the_one_called_up(shop: Shop) -> None:
    by = Admission(name="h", limit=Limit(1, by="customer"))
    for number in range(3):
        shop.queue.add_all([order(customer, number) for customer in range(300)])
    held = admit(shop.queue, by, home=HOME)
    assert held[77].ack()
    assert json.loads(shop.admin.lpop(KEYS.ready)) == {"customer": 77, "number": 1}
    assert [json.loads(each) for each in shop.look(by)] == [{"customer": 77, "number": 2}]


def test_a_bucket_that_was_used_again_stays(shop: Shop) -> None:
    by = Admission(name="h", rate=Rate(1, per=1, by="customer"))
    for number, (later, count) in enumerate([(0, 1), (5.5, 1), (0.6, 0)]):
        shop.later(round(later * SECOND))
        shop.look(by)
        shop.queue.add(order(71, number))
        assert len(admit(shop.queue, by, home=HOME)) == count, number


def test_a_free_slot_without_a_token_calls_up_nothing(shop: Shop) -> None:
    by = Admission(name="h", limit=Limit(1, by="customer"), rate=Rate(1, per=3600, by="customer"))
    shop.queue.add_all([order(71, number) for number in range(3)])
    (first,) = admit(shop.queue, by, home=HOME)
    assert first.ack()
    assert admit(shop.queue, by, home=HOME) == []
    assert set(shop.notes()) == {b"rate customer=71", b"limit customer=71"}
    assert shop.look(by) == []


@pytest.mark.timeout(900)
@pytest.mark.parametrize("count", [1000, by_night(100_000)])
def test_a_bucket_of_an_idle_key_vanishes(shop: Shop, count: int) -> None:
    by = Admission(name="h", rate=Rate(1, per=1, by="customer"))
    for start in range(0, count, 500):
        shop.queue.add_all([order(customer) for customer in range(start, start + 500) for _ in range(2)])
        admitted, taken = told(shop.queue, by, home=HOME)
        assert (len(taken), admitted.parked) == (500, 500)
        shop.queue.ack_all(taken)
    assert shop.admin.hlen(RATES) == count
    assert shop.admin.zcard(SLOTS) == count + 1, "the buckets, and the queue whose values wait"
    shop.admin.delete(KEYS.timeout, KEYS.deliveries, KEYS.histories, KEYS.history_ends)
    shop.later(5 * SECOND)
    shop.look(by)
    assert shop.admin.hlen(RATES) == count, "they are not full yet"
    shop.later(30 * SECOND)
    for _ in range(2 * (count // 200) + 3):
        shop.look(by)
    assert not shop.admin.exists(RATES)
    while shop.admin.exists(KEYS.lines):
        shop.look(by)
    assert not shop.admin.exists(KEYS.turns)


def test_what_is_parked_is_listed_with_its_reason(shop: Shop) -> None:
    shop.queue.add_all([order(customer, number) for number in range(4) for customer in (71, 72)])
    admit(shop.queue, BY, home=HOME)
    shop.later(7200 * SECOND)
    first = browse(shop.client, "orders", "parked", limit=3)
    rows = [*first.rows, *browse(shop.client, "orders", "parked", limit=3, after=first.next).rows]
    assert (first.count, len(rows)) == (4, 4)
    assert Counter(row.waits_for for row in rows) == {"limit customer=71": 2, "limit customer=72": 2}
    assert {row.state for row in rows} == {"waiting"}
    assert all(row.at and row.now - row.at >= timedelta(hours=2) for row in rows)
    assert [json.loads(row.data)["number"] for row in rows] == [2, 2, 3, 3]
    assert shop.client.stats("orders")["orders"].parked == shop.delayed.inspect().parked == 4


WAYS_AWAY: dict[str, Callable[[Shop], object]] = {
    "cancel": lambda shop: shop.delayed.cancel("i3"),
    "cancel without a name": lambda shop: [shop.delayed.cancel(item.id) for item in shop.delayed.items()],
    "remove": lambda shop: shop.delayed.remove(order(71, 3)),
    "replace": lambda shop: shop.delayed.offer("a", 60, id="i3", on_duplicate="replace"),
    "clear": lambda shop: shop.delayed.clear(),
}


@pytest.mark.parametrize("way", WAYS_AWAY)
def test_what_is_taken_away_is_parked_no_more(shop: Shop, way: str) -> None:
    ids = [None] * 4 if way == "cancel without a name" else [f"i{number}" for number in range(4)]
    for number, id in enumerate(ids):
        shop.delayed.offer(order(71, number), 0.001, id=id)
    shop.later(SECOND)
    shop.java_moves()
    admit(shop.queue, BY, home=HOME)
    assert shop.delayed.inspect().parked == 2
    WAYS_AWAY[way](shop)
    left = 0 if way in ("clear", "cancel without a name") else 1
    assert (shop.delayed.inspect().parked, sum(map(len, shop.notes().values()))) == (left, left)


def test_each_key_has_its_tokens(shop: Shop) -> None:
    by = Admission(name="h", rate=Rate(2, per=1, by="customer"), limit=Limit(8))
    shop.queue.add_all([order(customer, number) for number in range(4) for customer in (71, 72)])
    taken = admit(shop.queue, by, home=HOME)
    assert customers(taken) == [71, 72, 71, 72]
    assert {label: len(ids) for label, ids in shop.notes().items()} == {b"rate customer=71": 2, b"rate customer=72": 2}
    shop.later(SECOND // 2)
    shop.java_moves()
    assert customers(admit(shop.queue, by, home=HOME)) == [71, 72]


def test_the_key_of_a_context(shop: Shop) -> None:
    by = Admission(name="h", limit=Limit(1, by="context.tenant"))
    for number, tenant in enumerate(["a", "a", "b", None]):
        shop.delayed.offer(f"v{number}", 0, context=None if tenant is None else {"tenant": tenant})
    shop.later(SECOND)
    shop.java_moves()
    first = admit(shop.queue, by, home=HOME)
    assert [each.value for each in first] == ["v0", "v2", "v3"]
    assert list(shop.notes()) == [b"limit tenant=a"]
    assert first[0].ack()
    assert [each.value for each in admit(shop.queue, by, home=HOME)] == ["v1"]


def test_a_higher_limit_holds_for_keys_that_wait(shop: Shop) -> None:
    """No value of these keys comes, so a look that finds nothing calls up those that wait."""
    shop.queue.add_all([order(customer, number) for number in range(3) for customer in range(30)])
    held = admit(shop.queue, Admission(name="h", limit=Limit(1, by="customer")), home=HOME)
    assert len(held) == 30
    for _ in range(5):
        assert not any(count > 3 for count in Counter(customers(held)).values())
        shop.look(Admission(name="h", limit=Limit(3, by="customer")))
        held += admit(shop.queue, Admission(name="h", limit=Limit(3, by="customer")), home=HOME)
    assert len(held) == 90


def test_a_call_does_bounded_work_while_many_keys_wait(shop: Shop) -> None:
    count = 3000
    by = Admission(name="h", limit=Limit(1, by="customer"))
    for start in range(0, count, 500):
        shop.queue.add_all([order(customer, number) for customer in range(start, start + 500) for number in range(2)])
        admit(shop.queue, by, home=HOME)

    def commands() -> int:
        return sum(each["calls"] for each in shop.admin.info("commandstats").values())

    before = commands()
    shop.look(Admission(name="h", limit=Limit(1, by="customer")))
    assert commands() - before < 600


@pytest.mark.parametrize("name", ["admit", "peek"])
def test_the_scripts_leave_room_for_local_names(admin: Any, name: str) -> None:
    """Lua allows 200 in the main part, and the prelude of the test clock has some."""
    *lines, last = timed(load(name).source).rstrip().split("\n")
    assert admin.script_load("\n".join([*lines, *(f"local more_{number} = 1" for number in range(8)), last]))


# -- turns -----------------------------------------------------------------------------------------------------------

IN_TURN = Admission(name="h", turns="customer")


@pytest.mark.parametrize(
    "by",
    [
        IN_TURN,
        attrs.evolve(IN_TURN, limit=Limit(4)),
        attrs.evolve(IN_TURN, limit=Limit(2, by="customer")),
        attrs.evolve(IN_TURN, rate=Rate(1000, per=1)),
    ],
    ids=["turns", "limit", "limit by key", "rate"],
)
def test_many_values_of_one_key_hold_up_no_other(shop: Shop, by: Admission) -> None:
    shop.queue.add_all([order("noisy", number) for number in range(300)])
    first = admit(shop.queue, by, 4, home=HOME)
    assert set(customers(first)) == {"noisy"}
    assert len(first) <= 4
    for customer in "abc":
        shop.queue.add_all([order(customer, number) for number in range(3)])
    held, begun = list(first), list[tuple[object, int]]()
    while len(begun) < 12:
        assert held.pop(0).ack()
        for _ in range(2):
            came = admit(shop.queue, by, 4 - len(held), home=HOME)
            held += came
            begun += [(each["customer"], each["number"]) for each in (json.loads(one.value) for one in came)]
    others = [each for each in begun if each[0] != "noisy"]
    assert len(begun) - len(others) <= 4, "each round has one of theirs"
    for customer in "abc":
        assert [number for each, number in others if each == customer] == list(range(len(others)))[:3]
    while held:
        shop.queue.ack_all(held)
        held = admit(shop.queue, by, 4, home=HOME) or admit(shop.queue, by, 4, home=HOME)
    assert shop.queue.size() == 0
    assert not shop.admin.exists(KEYS.lines, KEYS.timeout, KEYS.deliveries)


def test_customers_take_turns_one_after_the_other(shop: Shop) -> None:
    shop.queue.add_all([order(customer, number) for customer in "abc" for number in range(6)])
    begun = list[object]()
    while came := admit(shop.queue, IN_TURN, 1) or admit(shop.queue, IN_TURN, 1):
        begun += customers(came)
        shop.queue.ack_all(came)
    rounds = [begun[start : start + 3] for start in range(1, 14)]
    assert all(set(each) == set("abc") for each in rounds), begun


def begin(shop: Shop, by: Admission, count: int) -> list[Any]:
    """A look of a worker, and its admission."""
    source = shop.queue.source(limits=words_of(by, HOME))
    seen = shop.queue.connections.run(source.peek(page(count, sorts=True)))
    return told(shop.queue, by, count, home=HOME, seen=seen)[1] if seen else []


@pytest.mark.parametrize(
    ("groups", "by"),
    [
        ("A x C y", IN_TURN),
        pytest.param("A x C y", attrs.evolve(IN_TURN, limit=Limit(2, by="customer")), marks=pytest.mark.nightly),
        pytest.param(
            "A x C y", attrs.evolve(IN_TURN, rate=Rate(1000, per=1, by="customer")), marks=pytest.mark.nightly
        ),
        pytest.param("A x", IN_TURN, marks=pytest.mark.nightly),
        pytest.param("A C x", attrs.evolve(IN_TURN, limit=Limit(4)), marks=pytest.mark.nightly),
        pytest.param("A x y A z", IN_TURN, marks=pytest.mark.nightly),
        pytest.param("A B C D E F G H I J x K y", IN_TURN, marks=pytest.mark.nightly),
    ],
)
def test_a_value_is_found_wherever_it_is_among_many(shop: Shop, groups: str, by: Admission) -> None:
    """A capital is 1,500 values of a customer, which come at once. The others have three each."""
    for customer in groups.split():
        shop.queue.add_all([order(customer, number) for number in range(1500 if customer.isupper() else 3)])
    wanted = {each: 3 for each in groups.split() if each.islower()}
    held, begun = list[Any](), list[tuple[str, int]]()
    # A look sees 1,000 values more, and each customer that waits has its turn in between.
    most = 10 + 2 * len(groups.split()) + 3 * len(wanted) * (1 + len(groups.split()))
    while not all((each, number) in begun for each in wanted for number in range(3)):
        assert len(begun) < most, begun
        shop.queue.ack_all([held.pop(0) for _ in held[:1]])
        for _ in range(2):
            came = begin(shop, by, 4 - len(held))
            held += came
            begun += [(each["customer"], each["number"]) for each in (json.loads(one.value) for one in came)]
    for customer in {each for each, _ in begun}:
        assert (numbers := [number for each, number in begun if each == customer]) == sorted(numbers)


@pytest.mark.parametrize("seed", [1, *map(by_night, range(2, 40))])
def test_turns_beside_programs_that_push_and_take(shop: Shop, seed: int) -> None:
    """Nothing is lost, and each customer's values begin in their order."""
    chance = random.Random(seed)
    numbers, held, begun, taken = Counter[str](), list[Any](), list[str](), list[str]()
    for step in range(40):
        for _ in range(chance.choice([0, 0, 1, 3]) if step < 25 else 0):
            customer = chance.choice("aaabcd")
            first, count = numbers[customer], chance.choice([1, 2, 40, 100])
            numbers[customer] += count
            shop.queue.add_all([order(customer, number) for number in range(first, first + count)])
        if chance.random() < 0.3:
            taken += [each.decode() for each in shop.admin.lpop(KEYS.ready, chance.choice([1, 5, 30])) or []]
        chance.shuffle(held)
        done, held = held[:4], held[4:]
        shop.queue.ack_all(done)
        came = begin(shop, IN_TURN, chance.randrange(6))
        held += came
        begun += [each.value for each in came]
    while shop.queue.size() or held or shop.admin.exists(KEYS.lines):
        shop.queue.ack_all(held)
        held = begin(shop, IN_TURN, 8)
        begun += [each.value for each in held]
        if not held and not shop.queue.size():
            shop.look(IN_TURN)
    assert sorted(begun + taken) == sorted(order(each, n) for each, count in numbers.items() for n in range(count))
    for customer in numbers:
        of_one = [json.loads(each)["number"] for each in begun if json.loads(each)["customer"] == customer]
        assert of_one == sorted(of_one)
    assert shop.is_idle()


def test_turns_keep_the_order_of_a_key_when_values_come_back_by_themselves(shop: Shop) -> None:
    shop.queue.add_all([order(71, number) for number in range(30)])
    (first,) = admit(shop.queue, IN_TURN, 1, visible=1)
    assert first.ack()
    admit(shop.queue, IN_TURN, 0)
    shop.later(5 * SECOND)
    shop.java_moves()
    found = [0]
    while len(found) < 30:
        for each in admit(shop.queue, IN_TURN, 1):
            found.append(json.loads(each.value)["number"])
            assert each.ack()
    assert found == list(range(30))
    assert shop.is_idle()


def test_turns_by_the_context(shop: Shop) -> None:
    by = Admission(name="h", turns="context.tenant")
    for number in range(8):
        shop.delayed.offer(f"a{number}", 0, context={"tenant": "a"})
    shop.delayed.offer("b", 0, context={"tenant": "b"})
    shop.later(SECOND)
    shop.java_moves()
    (first,) = admit(shop.queue, by, 1)
    assert first.value == "a0"
    assert set(shop.notes()) == {b"turns tenant=a", b"turns tenant=b"}
    begun = [first.value]
    held = [first]
    while held:
        shop.queue.ack_all(held)
        held = admit(shop.queue, by, 1)
        begun += [each.value for each in held]
    assert begun.index("b") <= 2
    assert [each for each in begun if each != "b"] == [f"a{number}" for number in range(8)]


def test_a_value_that_java_took_in_its_turn_holds_up_nothing(shop: Shop) -> None:
    shop.queue.add_all([order(customer, number) for number in range(3) for customer in (71, 72)])
    (first,) = admit(shop.queue, IN_TURN, 1)
    assert first.ack()
    assert shop.admin.lpop(KEYS.ready)
    taken = [each for _ in range(6) for each in admit(shop.queue, IN_TURN, 1) if each.ack()]
    assert len(taken) == 4
    assert shop.is_idle()


def test_queues_that_share_a_limit_go_on_with_turns(shop: Shop) -> None:
    by = attrs.evolve(IN_TURN, limit=Limit(1), rate=Rate(1000, per=1))
    bills = opened(shop.client, "bills")
    for queue in (shop.queue, bills):
        queue.add_all([order(customer, number) for number in range(4) for customer in (71, 72)])
    (held,) = admit(shop.queue, by, 2, home=HOME)
    assert admit(bills, by, 2, home=HOME) == []
    done: Counter[str] = Counter()
    begun_in = "orders"
    for _ in range(60):
        assert held.ack()
        done[begun_in] += 1
        if done.total() == 16:
            break
        for queue in (bills, shop.queue, bills, shop.queue):
            if came := admit(queue, by, 2, home=HOME):
                (held,), begun_in = came, queue.name
                break
    assert done == {"orders": 8, "bills": 8}


def test_with_turns_one_value_waits_for_the_next_token(shop: Shop) -> None:
    by = attrs.evolve(IN_TURN, rate=Rate(1, per=1))
    shop.queue.add_all([order("noisy", number) for number in range(100)])
    held = admit(shop.queue, by, 4, home=HOME)
    admit(shop.queue, by, 4, home=HOME)
    shop.queue.add(order("quiet"))
    came: list[object] = []
    while "quiet" not in came:
        shop.queue.ack_all(held)
        admit(shop.queue, by, 4, home=HOME)
        shop.later(SECOND)
        for member, due in shop.admin.zrange(KEYS.timeout, 0, 0, withscores=True):
            assert due <= int(shop.admin.get(CLOCK_KEY)) // 1000 + shop.admin.time()[0] * 1000 + 3000
            shop.admin.zrem(KEYS.timeout, member)
            shop.admin.rpush(KEYS.ready, unwrap(member)[1])
        held = admit(shop.queue, by, 4, home=HOME)
        assert len(held) <= 1
        came += customers(held)
        assert len(came) < 5, "others are not behind the 100 of one key"


def test_a_call_that_sorts_parks_a_bounded_number_of_values(shop: Shop) -> None:
    shop.queue.add_all([order(71, number) for number in range(3000)])
    admitted, taken = told(shop.queue, IN_TURN, 1)
    assert (len(taken), admitted.parked) == (1, 21)


def test_turns_by_another_key_than_the_limit_are_refused() -> None:
    with pytest.raises(ArgumentError, match="turns= is by the same key as limit= and rate="):
        declared(print, "orders", turns="customer", limit=Limit(2, by="region"))
    with pytest.raises(ArgumentError, match=r'turns= is a field such as "customer\.id"'):
        declared(print, "orders", turns=5)  # type: ignore[arg-type]
    assert declared(print, "orders", turns="customer", limit=Limit(2, by="customer"), rate=Rate(2)).admission


# -- keys ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [
        {"customer": {"id": 71}},
        SimpleNamespace(customer=SimpleNamespace(id=71)),
        '{"customer": {"id": 71}}',
        b'{"customer": {"id": 71}}',
        JavaObject("shop.Order", {"customer": JavaObject("shop.Customer", {"id": 71})}),
    ],
)
def test_a_path_of_fields(value: Any) -> None:
    assert key_bytes("customer.id", value, "limit= by=") == b"71"
    assert key_and_words("customer.id", value, "") == (b"71", "customer.id=71")


@pytest.mark.parametrize(
    "value", ['{"customer": 71, "lines": [' + "[]," * 400_000 + "0]}", b'{"customer": ' + b"7" * 1_000_001]
)
def test_a_path_reads_no_text_of_unbounded_length(value: Any) -> None:
    """It would take many times the memory of the value, which the codec has bounded."""
    with pytest.raises(BadKey, match="too long for a path; give a function of the value"):
        key_bytes("customer", value, "limit= by=")


def test_keys_in_words() -> None:
    def tenant(value: Any) -> object:
        return value

    assert key_and_words(tenant, uuid.UUID(int=1), "")[1] == "tenant=UUID('00000000-0000-0000-0000-000000000001')"
    assert key_and_words(lambda value: value, "a", "")[1] == "key=a"


def test_a_function_is_asked_once_for_each_value() -> None:
    asked: list[Any] = []

    def customer(value: Any) -> int:
        asked.append(value)
        return len(asked)

    Admission(name="shop.send", limit=Limit(2, by=customer)).words_of("order", None)
    assert asked == ["order"]


@pytest.mark.parametrize("value", [{}, "no JSON", 5, {"customer": 1.5}])
def test_a_value_without_the_key(value: Any) -> None:
    with pytest.raises(BadKey, match="limit= by="):
        BY.words_of(value, None)
    assert isinstance(BY.fault_of(value, b""), BadKey)


@pytest.mark.parametrize("by", ["", ".a", "a..b", 5, lambda: 1])
def test_what_is_no_key(by: Any) -> None:
    with pytest.raises(ArgumentError, match=r'by= is a field such as "customer\.id"'):
        Limit(4, by=by)
    with pytest.raises(ArgumentError, match="rate= by="):
        Rate(4, by=by)


def test_limits_by_different_keys_are_apart() -> None:
    def words(by: Any, **name: str) -> LimitWords:
        return Admission(name="h", limit=Limit(4, by=by, **name)).words_of({"a": 1, "b": 1}, str)

    assert words("a") == words("a")
    assert len({words("a").id, words("b").id, words("a", name="n").id}) == 3
    plain = Admission(name="h", limit=Limit(4)).words_of_keys(str)[0]
    assert plain.home != words("a").home
    assert plain.by == b""
