"""Admitting values by key, slots and tokens: the scripts, without a worker and without waiting for time to pass."""

from __future__ import annotations

import enum
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from redis.crc import key_slot

import redisson_dq
from redisson_dq import SettleOutcome
from redisson_dq._redis.tuning import tuned
from redisson_dq._sync.leases.delivery import Delivery
from redisson_dq.codecs import StringCodec
from redisson_dq.errors import ArgumentError, RedisReplyError, WrongTypeError
from redisson_dq.scripts.script import load
from redisson_dq.wire.envelope import Envelope, unwrap
from redisson_dq.wire.keys import DeadKeys, QueueKeys
from redisson_dq.working.keys import BadKey
from redisson_dq.working.limits import Admission, Limit, Rate
from tests.conftest import by_night
from tests.integration.admitting import Opened, admit, opened, told
from tests.integration.calls import dump
from tests.integration.conftest import KEYS
from tests.integration.server import of_server, wait_until
from tests.integration.whereabouts import whereabouts
from tests.interop.sides import HOUR, NO_PROBE


def letter(value: str) -> str:
    return value[0]


@pytest.fixture
def client(url: str) -> Iterator[Any]:
    with tuned(probe_interval=NO_PROBE), redisson_dq.connect(url, codec=StringCodec()) as made:
        yield made


@pytest.fixture
def queue(client: Any) -> Any:
    return opened(client)


@pytest.fixture
def delayed(client: Any) -> Any:
    return client.delayed_queue("orders", transfer=False)


def values(deliveries: list[Delivery[str]]) -> list[str]:
    return [delivery.value for delivery in deliveries]


def java_moves(admin: Any) -> None:
    """What is due is ready, at the end of the list. Nothing is noted of it, as by Redisson's transfer."""
    for member in admin.zrangebyscore(KEYS.timeout, "-inf", of_server(admin).timestamp() * 1000):
        admin.rpush(KEYS.ready, unwrap(member)[1])
        admin.lrem(KEYS.envelopes, 1, member)
        admin.zrem(KEYS.timeout, member)


def comes(admin: Any, delayed: Any, *wanted: str) -> None:
    """The time of waiting values has come, one after the other."""
    for value in wanted:
        (item,) = [item for item in delayed.items(0, 9999) if item.value == value]
        assert item.run_now()
        wait_until(admin, of_server(admin, 2))
        java_moves(admin)


def lapse(admin: Any, delivery: Delivery[str]) -> None:
    """The lease of a receiver that died has ended, and its value is ready."""
    wait_until(admin, delivery.deadline)
    java_moves(admin)


KEYED = Admission(name="h", key=letter)


# -- keys ------------------------------------------------------------------------------------------------------------


def test_one_of_a_key_at_a_time_and_no_other_is_held_up(queue: Any, delayed: Any, admin: Any) -> None:
    queue.add_all(["a1", "a2", "b1", "a3", "c1", "b2"])
    first = admit(queue, KEYED)
    assert values(first) == ["a1", "b1", "c1"]
    assert admit(queue, KEYED) == []
    found = whereabouts(admin)
    assert found.waiting == Counter([b"a2", b"a3", b"b2"]), "what is parked is an ordinary waiting entry"
    assert found.ready == Counter()
    assert first[0].ack()
    assert queue.read_all() == ["a2"], "the next is ready the moment the one before it is done"
    (second,) = admit(queue, KEYED)
    assert (second.value, second.attempt) == ("a2", 1)
    assert second.reject("no")
    assert values(third := admit(queue, KEYED)) == ["a3"]
    assert third[0].ack() is first[1].ack() is first[2].ack() is SettleOutcome.ACKED
    assert values(last := admit(queue, KEYED)) == ["b2"]
    assert last[0].ack()
    assert admin.zcard(KEYS.lines) == admin.hlen(KEYS.turns) == 0


def test_a_retry_keeps_its_turn(queue: Any, delayed: Any, admin: Any) -> None:
    queue.add_all(["a1", "a2", "b1"])
    a1, b1 = admit(queue, KEYED)
    assert a1.nack(HOUR, reason="again") is SettleOutcome.DELAYED
    assert b1.nack() is SettleOutcome.RETURNED
    queue.add_all(["a3", "b2"])
    assert values(again := admit(queue, KEYED)) == ["b1"]
    assert again[0].attempt == 2
    assert [item.value for item in delayed.items()][-1] == "a1"
    comes(admin, delayed, "a1")
    (a1,) = admit(queue, KEYED)
    assert (a1.value, a1.attempt, a1.failures, a1.reason) == ("a1", 2, 1, "again")
    assert a1.ack()
    (a2,) = admit(queue, KEYED)
    assert a2.value == "a2"


def test_what_a_dead_process_held_comes_before_what_stands_behind_it(queue: Any, admin: Any) -> None:
    queue.add_all(["a1", "a2"])
    (a1,) = admit(queue, KEYED, visible=0.002)
    queue.add("a3")
    assert admit(queue, KEYED, count=5) == []
    queue.add("a4")
    lapse(admin, a1)
    # The values behind it are first in the list, as after a crash.
    queue.add_all(["a5"])
    running = admit(queue, KEYED)
    assert [(one.value, one.attempt, one.crashes) for one in running] == [("a1", 2, 1)]
    order: list[str] = []
    while running:
        order += values(running)
        assert len(running) == 1
        assert running[0].ack()
        running = admit(queue, KEYED)
    assert order == ["a1", "a2", "a3", "a4", "a5"]
    assert whereabouts(admin).total == Counter()


def test_nobody_overtakes_a_value_that_was_handed_back(queue: Any) -> None:
    queue.add_all(["a1", "a2"])
    (a1,) = admit(queue, KEYED)
    assert a1.nack(count=False) is SettleOutcome.RETURNED
    (again,) = admit(queue, KEYED)
    assert (again.value, again.attempt) == ("a1", 1)


@pytest.mark.parametrize("how", ["taken", "cancelled", "purged", "received by others"])
def test_a_value_that_has_left_otherwise_holds_up_nobody_for_good(
    queue: Any, delayed: Any, admin: Any, how: str
) -> None:
    queue.add_all(["a1", "a2"])
    (a1,) = admit(queue, KEYED)
    queue.add("a3")
    assert admit(queue, KEYED) == []
    if how == "taken":
        # Ready again, and taken by somebody who knows nothing of turns.
        assert a1.nack()
        assert queue.poll() == "a1"
    elif how == "cancelled":
        assert a1.nack(HOUR)
        assert delayed.cancel(next(item for item in delayed.items() if item.value == "a1").id)
        # A cancel calls up the next one of the key.
        (a2,) = admit(queue, KEYED)
        assert a2.value == "a2"
        assert a2.ack()
        assert values(admit(queue, KEYED)) == ["a3"]
        return
    elif how == "purged":
        assert a1.nack(HOUR)
        assert delayed.remove("a1")
    else:
        assert a1.nack()
        other = queue.receive(timeout=0)
        comes(admin, delayed, "a2")
        assert admit(queue, KEYED) == [], "somebody holds the first"
        assert other.ack()
        assert values(admit(queue, KEYED)) == ["a2"]
        return
    comes(admin, delayed, "a2", "a3")
    (a2,) = admit(queue, KEYED)
    assert a2.value == "a2"
    assert a2.ack()
    assert values(admit(queue, KEYED)) == ["a3"]


def test_a_new_value_does_not_overtake_a_parked_one_whose_first_is_gone(queue: Any, delayed: Any, admin: Any) -> None:
    queue.add_all(["a1", "a2"])
    (a1,) = admit(queue, KEYED)
    assert admit(queue, KEYED) == []
    assert a1.nack(HOUR)
    assert delayed.remove("a1")
    queue.add("a3")
    assert admit(queue, KEYED) == []
    assert queue.read_all() == ["a2"], "it is called up as soon as somebody notices"
    assert values(admit(queue, KEYED)) == ["a2"]


def test_equal_values_of_a_key_are_as_many_as_before(queue: Any, delayed: Any, admin: Any) -> None:
    queue.add_all(["a"] * 30)
    handled = 0
    while handled < 30:
        (one,) = admit(queue, KEYED)
        assert whereabouts(admin).total == Counter({b"a": 30 - handled})
        if handled % 7 == 3 and one.attempt == 1:
            assert one.nack()
            continue
        assert one.ack()
        handled += 1
    assert whereabouts(admin).total == Counter()
    assert admin.zcard(KEYS.lines) == 0


def test_equal_values_that_all_come_back_are_as_many_as_before(queue: Any, delayed: Any, admin: Any) -> None:
    """Each was parked, and its time came before its turn."""
    queue.add_all(["a"] * 20)
    (first,) = admit(queue, KEYED)
    for item in delayed.items():
        assert item.run_now()
    wait_until(admin, of_server(admin, 2))
    java_moves(admin)
    assert admit(queue, KEYED) == []
    assert whereabouts(admin).total == Counter({b"a": 20})
    assert admin.zcard(KEYS.lines) == 20, "each keeps its turn"
    assert first.ack()
    for _ in range(19):
        (one,) = admit(queue, KEYED)
        assert one.ack()
    assert admin.zcard(KEYS.lines) == 0


def test_what_is_lost_beside_the_queue_costs_the_order_and_no_value(queue: Any, delayed: Any, admin: Any) -> None:
    queue.add_all(["a1", "a2", "a3"])
    (a1,) = admit(queue, KEYED)
    admin.delete(KEYS.lines, KEYS.turns, KEYS.handled)
    assert a1.ack()
    comes(admin, delayed, "a2", "a3")
    (a2,) = admit(queue, KEYED)
    assert a2.ack()
    assert values(admit(queue, KEYED)) == ["a3"]


def test_turns_of_values_that_are_gone_do_not_pile_up(queue: Any, delayed: Any, admin: Any) -> None:
    queue.add_all([f"{chr(0x100 + number)}{turn}" for number in range(50) for turn in range(2)])
    held = admit(queue, KEYED)
    assert len(held) == 50
    delayed.clear()
    queue.ack_all(held)
    for _ in range(400):
        queue.add("a")
        assert admit(queue, KEYED)[0].ack()
    assert admin.zcard(KEYS.lines) < 10
    assert admin.hlen(KEYS.turns) < 20


def test_a_change_of_the_key_function_moves_values_to_other_lines(queue: Any, delayed: Any, admin: Any) -> None:
    queue.add_all(["a1", "a2", "b1"])
    _, b1 = admit(queue, KEYED)
    other = Admission(name="h", key=lambda value: value[1])
    comes(admin, delayed, "a2")
    assert values(admit(queue, other)) == ["a2"]
    none = Admission(name="h", rate=Rate(100))
    assert b1.nack()
    assert values(admit(queue, none)) == ["b1"]


def test_the_delivery_limit_calls_the_next_up(url: str, admin: Any) -> None:
    with redisson_dq.connect(url, codec=StringCodec()) as client:
        queue = opened(client, limit=2)
        queue.add_all(["a1", "a2"])
        for _ in range(2):
            (a1,) = admit(queue, KEYED)
            outcome = a1.nack()
        assert outcome is SettleOutcome.DEAD_LETTERED
        (a2,) = admit(queue, KEYED, visible=0.002)
        assert a2.value == "a2"
        lapse(admin, a2)
        (a2,) = admit(queue, KEYED, visible=0.002)
        lapse(admin, a2)
        queue.add("a3")
        assert values(admit(queue, KEYED)) == ["a3"]
        assert admin.lrange(DeadKeys.belonging_to("orders").dead, 0, -1) == [b"a1", b"a2"]
        queue.redrive()
        assert queue.dead_letters() == []


# -- rates -----------------------------------------------------------------------------------------------------------


def later(admin: Any, us: int) -> None:
    """So much time has passed for every bucket: what it was counted from is so much earlier."""
    for field, text in admin.hgetall(KEYS.turns).items():
        if field[:1] == b"b":
            since, level, booked = (int(part) for part in text.split())
            admin.hset(KEYS.turns, field, f"{since - us} {level} {max(0, booked - us)}")


def forget_parked(admin: Any) -> None:
    """Takes out what was parked, and the times it was given."""
    leased = set(admin.zrange(KEYS.leases, 0, -1))
    parked = [member for member in admin.zrange(KEYS.timeout, 0, -1) if unwrap(member)[0] not in leased]
    if parked:
        admin.zrem(KEYS.timeout, *parked)
    for field, text in admin.hgetall(KEYS.turns).items():
        if field[:1] == b"b":
            since, level, _ = text.split()
            admin.hset(KEYS.turns, field, b"%s %s 0" % (since, level))


class Model:
    """A token bucket that counts in whole numbers."""

    def __init__(self, rate: Rate) -> None:
        self.rate = rate
        self.level, self.since_us = rate.size, 0

    def take(self, now_us: int, wanted: int) -> int:
        tokens = self.level + (now_us - self.since_us) * self.rate.limit // self.rate.per_us
        if tokens >= self.rate.size:
            tokens = self.level = self.rate.size
            self.since_us = now_us
        taken = min(tokens, wanted)
        self.level -= taken
        return taken


RATES = {
    "a hundred a second": (Rate(100, per=1), [10_000_000]),
    "a hundred a second, often": (Rate(100, per=1), [9_999, 1, 10_000, 25_000] * 20),
    "a third of a second each": (Rate(3, per=1), [333_333, 333_334, 333_333, 1, 5_000_000]),
    "more at once than in a span": (Rate(7, per=0.3, burst=20), [100_000, 200_000, 300_000, 2_000_000]),
    "one a minute": (Rate(1, per=60), [59_000_000, 999_999, 1, 60_000_000]),
    "few a day": (Rate(1000, per=86_400, burst=5), [86_400_000, 86_399_999, 1, 10**12]),
}


@pytest.mark.parametrize(("rate", "spans"), RATES.values(), ids=RATES)
def test_a_rate_is_exact_to_the_token(queue: Any, admin: Any, rate: Rate, spans: list[int]) -> None:
    """However often somebody asks meanwhile, as many tokens come as a model says that knows the server's time."""
    by, model, moved, number = Admission(name="h", rate=rate), Model(rate), 0, 0
    for span in [0, *spans]:
        later(admin, span)
        moved += span
        for wanted in (1, 130):
            queue.add_all([f"v{number + more}" for more in range(wanted)])
            number += wanted
            admitted, taken = told(queue, by)
            assert len(taken) == model.take(admitted.now_us + moved, wanted)
            assert admitted.parked == wanted - len(taken)
            queue.ack_all(taken)
            forget_parked(admin)


@pytest.mark.parametrize("step_us", [500_000, by_night(100_000)])
def test_over_ten_seconds_as_many_come_as_the_rate_says(queue: Any, admin: Any, step_us: int) -> None:
    """The bucket holds what comes while the test itself takes its time."""
    rate = Rate(100, per=1, burst=900)
    by, model, moved, taken, began = Admission(name="h", rate=rate), Model(rate), 0, 0, 0
    for step in range(10_000_000 // step_us + 1):
        queue.add_all([f"{step} {number}" for number in range(990 if not step else 300)])
        admitted, found = told(queue, by)
        began = began or admitted.now_us
        assert len(found) == model.take(admitted.now_us + moved, 990 if not step else 300)
        taken += len(found)
        queue.ack_all(found)
        forget_parked(admin)
        later(admin, step_us)
        moved += step_us
    passed = admitted.now_us + moved - step_us - began
    assert passed >= 10_000_000
    assert taken <= 900 + passed * 100 // 1_000_000
    if passed < 12_000_000:
        # Nothing ran over, and nothing is left.
        assert taken == 900 + passed * 100 // 1_000_000


def test_what_waits_for_a_token_comes_when_there_is_one(queue: Any, delayed: Any, admin: Any) -> None:
    by = Admission(name="h", rate=Rate(10, per=1, burst=2))
    queue.add_all([f"v{number}" for number in range(7)])
    admitted, taken = told(queue, by)
    assert values(taken) == ["v0", "v1"]
    items = delayed.items()
    assert [item.value for item in items] == [f"v{number}" for number in range(2, 7)]
    dues = [item.due.timestamp() * 1000 - admitted.now_us / 1000 for item in items]
    assert all(100 * place <= due <= 100 * place + 1.1 for place, due in enumerate(dues, 1)), dues
    # A new value does not come before them.
    later(admin, 100_000)
    queue.add("new")
    assert admit(queue, by) == []
    comes(admin, delayed, "v2")
    assert values(admit(queue, by)) == ["v2"]


def test_who_comes_late_for_a_token_costs_the_next_one_nothing(queue: Any, delayed: Any, admin: Any) -> None:
    by = Admission(name="h", rate=Rate(1, per=1, burst=1))
    queue.add_all([f"v{number}" for number in range(5)])
    assert values(admit(queue, by)) == ["v0"]
    # Half a second late, and a tenth.
    for span, value in ((1_500_000, "v1"), (600_000, "v2")):
        later(admin, span)
        comes(admin, delayed, value, "v4")
        assert values(admit(queue, by)) == [value]
    # What came without a token waits behind the others, and nobody has two.
    assert [item.value for item in delayed.items()] == ["v3", "v4"]


def test_times_that_were_given_to_values_that_left_hold_up_nobody(queue: Any, delayed: Any, admin: Any) -> None:
    by = Admission(name="h", rate=Rate(10, per=1))
    queue.add_all([f"v{number}" for number in range(200)])
    assert len(admit(queue, by)) == 10
    delayed.clear()
    later(admin, 1_000_000)
    queue.add("new")
    assert admit(queue, by) == []
    later(admin, 6_000_000)
    queue.add("newer")
    assert values(admit(queue, by)) == ["newer"]


def test_a_bucket_survives_a_step_back_of_the_clock(queue: Any, admin: Any) -> None:
    by = Admission(name="h", rate=Rate(2, per=60))
    queue.add_all(["a", "b", "c"])
    assert len(admit(queue, by)) == 2
    later(admin, -HOUR_US)
    forget_parked(admin)
    queue.add_all(["d", "e", "f"])
    assert len(admit(queue, by)) == 2


HOUR_US = 3_600_000_000


# -- slots -----------------------------------------------------------------------------------------------------------


def test_so_many_are_handled_at_a_time_over_all_clients(queue: Any, delayed: Any, url: str, admin: Any) -> None:
    by, free = Admission(name="h", limit=Limit(2)), Admission(name="other", key=letter)
    with redisson_dq.connect(url, codec=StringCodec()) as second:
        others = opened(second)
        queue.add_all([f"v{number}" for number in range(6)])
        first = admit(queue, by)
        assert values(first) == ["v0", "v1"]
        assert admit(others, by) == []
        assert whereabouts(admin).waiting == Counter(b"v%d" % number for number in range(2, 6))
        queue.add("x")
        assert values(admit(others, free)) == ["x"], "what is limited is in nobody's way"
        ends: list[Callable[[Delivery[str]], SettleOutcome]] = [
            lambda one: one.ack(),
            lambda one: one.nack(HOUR),
            lambda one: one.reject("no"),
            lambda one: one.nack(count=False),
        ]
        running = first
        came = [one.value for one in first]
        for end in ends:
            assert end(running.pop(0))
            (one,) = [each for each in admit(others, by) if each.value not in came or each.attempt == 1]
            running.append(one)
            came.append(one.value)
            assert admit(queue, by) == []
            assert len(running) == 2
        assert came[:5] == [f"v{number}" for number in range(5)]
        assert set(came) <= {f"v{number}" for number in range(6)}


def test_a_slot_ends_with_its_lease(queue: Any, delayed: Any, admin: Any) -> None:
    by = Admission(name="h", limit=Limit(2))
    queue.add_all(["alive", "dead"])
    (alive,) = admit(queue, by, count=1)
    (dead,) = admit(queue, by, count=1, visible=0.002)
    lapse(admin, dead)
    queue.add_all(["new", "newer"])
    assert values(again := admit(queue, by)) == ["dead"]
    assert again[0].attempt == 2
    assert alive.ack()
    assert values(admit(queue, by)) == ["new"]


def test_a_value_that_was_received_before_comes_before_what_waits_for_a_slot(queue: Any, admin: Any) -> None:
    by = Admission(name="h", limit=Limit(1))
    queue.add_all(["a", "b"])
    (a,) = admit(queue, by)
    assert admit(queue, by) == []
    assert a.nack(count=False)
    # Its end has called the next one up, which stands behind it.
    assert queue.read_all() == ["a", "b"]
    assert values(admit(queue, by)) == ["a"]


def test_a_value_that_is_called_up_finds_its_slot_taken_and_waits_again(queue: Any, delayed: Any, admin: Any) -> None:
    by = Admission(name="h", limit=Limit(1))
    queue.add_all(["v0", "v1", "v2"])
    (v0,) = admit(queue, by)
    # Both of them come before their turn.
    comes(admin, delayed, "v1", "v2")
    assert admit(queue, by) == []
    assert v0.ack()
    (v1,) = admit(queue, by)
    assert v1.value == "v1"
    assert v1.ack()
    assert values(admit(queue, by)) == ["v2"]


def test_values_that_all_come_back_at_once_leave_no_slot_idle(queue: Any, delayed: Any, admin: Any) -> None:
    """As after a deployment that took longer than the visibility timeout: each had a turn, which is void then."""
    by = Admission(name="h", limit=Limit(2))
    queue.add_all([f"v{number}" for number in range(900)])
    running = admit(queue, by)
    while admit(queue, by):
        pass
    for item in delayed.items(0, 9999):
        assert item.run_now()
    wait_until(admin, of_server(admin, 2))
    java_moves(admin)
    while queue.size():
        assert admit(queue, by) == []
    done = 0
    while running:
        assert running.pop(0).ack()
        done += 1
        running += admit(queue, by)
        assert len(running) == min(2, 900 - done)
    assert admin.zcard(KEYS.lines) == 0


@pytest.mark.parametrize("how", ["cancelled", "taken by others", "the limit is higher", "died"])
def test_a_slot_that_becomes_free_otherwise_is_taken(queue: Any, delayed: Any, admin: Any, how: str) -> None:
    by = Admission(name="h", limit=Limit(1))
    queue.add_all([f"v{number}" for number in range(300)])
    (v0,) = admit(queue, by, visible=0.002 if how == "died" else 60)
    if how == "died":
        # Nothing is left of its value, which would have come again.
        wait_until(admin, v0.deadline)
        assert admin.zrem(KEYS.timeout, *[each for each in admin.zrange(KEYS.timeout, 0, -1) if each[-2:] == b"v0"])
    elif how == "the limit is higher":
        by = Admission(name="h", limit=Limit(3))
    elif how == "cancelled":
        for item in delayed.items(0, 249):
            assert delayed.cancel(item.id)
        assert v0.ack()
    else:
        assert v0.ack()
        assert queue.poll() == "v1"
    queue.add("new")
    came = values(admit(queue, by))
    while len(came) < (2 if how == "the limit is higher" else 1):
        came += values(admit(queue, by))
    assert came[0] == {"cancelled": "v251", "taken by others": "v2"}.get(how, "v1")
    assert queue.size() == 0


def test_queues_share_the_slots_of_one_home(queue: Any, client: Any, admin: Any) -> None:
    by = Admission(name="h", limit=Limit(2))
    bills, others = opened(client, "bills"), opened(client, "{x}:others")
    for each in (queue, bills, others):
        each.add_all([f"v{number}" for number in range(50)])
    running: list[tuple[Any, Delivery[str]]] = []
    done: Counter[str] = Counter()
    while done.total() < 150:
        for each in (queue, bills, others):
            running += [(each, one) for one in admit(each, by, home="{h}")]
            assert len(running) <= 2
        assert len(running) == min(2, 150 - done.total()), "no slot is free while a value of any queue waits"
        assert min(done.values(), default=0) > 0 or done.total() < 60, "no queue waits for another one"
        each, one = running.pop(0)
        assert one.ack()
        done[each.name] += 1
    assert set(done.values()) == {50}
    assert admin.zcard("redisson_dq_slots:{h}") == 0
    # A process that dies holds no slot, and its queue may have no other consumer.
    queue.add_all(["a", "b"])
    bills.add("c")
    found = admit(queue, by, visible=0.002, home="{h}")
    assert len(found) == 2
    wait_until(admin, found[1].deadline)
    assert values(admit(bills, by, home="{h}")) == ["c"]


def test_slots_of_a_version_that_knows_no_homes_are_counted(queue: Any) -> None:
    by = Admission(name="h", limit=Limit(3))
    queue.add_all([f"v{number}" for number in range(6)])
    before = admit(queue, by, 2)
    held = admit(queue, by, home="{h}")
    assert (len(before), len(held)) == (2, 1)
    assert before[0].ack()
    assert len(admit(queue, by, home="{h}")) == 1


def test_queues_share_the_rate_of_one_home(queue: Any, client: Any, admin: Any) -> None:
    by = Admission(name="h", rate=Rate(5, per=3600))
    bills = opened(client, "bills")
    for each in (queue, bills):
        each.add_all([f"v{number}" for number in range(4)])
    assert [len(admit(each, by, home="{h}")) for each in (queue, bills)] == [4, 1]
    named = Admission(name="other", rate=Rate(3, per=3600, name="n"), limit=Limit(2, name="m"))
    assert named.words_of_keys(str)[0].rate_home == "n"
    assert named.words_of_keys(str)[0].home == "m"
    assert admin.pttl("redisson_dq_rate:{h}") == -1


@pytest.mark.parametrize("key", ["redisson_dq_slots:{h}", "redisson_dq_rate:{h}"])
def test_a_key_of_a_shared_limit_of_another_type_changes_nothing(queue: Any, admin: Any, key: str) -> None:
    queue.add("a")
    admin.set(key, "text")
    before = dump(admin)
    with pytest.raises(RedisReplyError, match="WRONGTYPE"):
        admit(queue, Admission(name="h", rate=Rate(5), limit=Limit(2)), home="{h}")
    assert dump(admin) == before


def test_keys_slots_and_rates_together(queue: Any, delayed: Any, admin: Any) -> None:
    by = Admission(name="h", limit=Limit(2), rate=Rate(100, per=1), key=letter)
    wanted = [f"{kind}{number}" for number in range(5) for kind in "abcd"]
    queue.add_all(wanted)
    done: list[str] = []
    while len(done) < 20:
        running = admit(queue, by)
        assert 0 < len(running) <= 2
        assert len({one.value[0] for one in running}) == len(running)
        done += [one.value for one in running if one.ack()]
        if len(done) < 20 and not queue.size():
            later(admin, 100_000)
            for item in delayed.items():
                item.run_now()
            wait_until(admin, of_server(admin, 2))
            java_moves(admin)
    for kind in "abcd":
        assert [value for value in done if value[0] == kind] == [f"{kind}{number}" for number in range(5)]
    assert whereabouts(admin).total == Counter()


# -- unique values ---------------------------------------------------------------------------------------------------


def test_a_value_that_was_handled_is_not_handled_again_for_a_while(queue: Any, admin: Any) -> None:
    by = Admission(name="h", unique_for=60, unique_by=letter)
    queue.add_all(["a1", "a2", "b1"])
    a1, b1 = admit(queue, by)
    assert (a1.value, b1.value) == ("a1", "b1")
    assert b1.nack(count=False)
    assert a1.ack()
    admitted, found = told(queue, by)
    assert admitted.dropped == [b"a2"]
    assert values(found) == ["b1"]
    assert whereabouts(admin).total == Counter([b"b1"])
    (member, until) = admin.zrange(KEYS.handled, 0, 0, withscores=True)[0]
    assert admin.pttl(KEYS.handled) == -1
    admin.zadd(KEYS.handled, {member: 1})
    queue.add("a3")
    assert values(admit(queue, by)) == ["a3"]
    assert until > of_server(admin).timestamp() * 1000 + 50_000


@pytest.mark.parametrize("end", ["crash", "nack", "reject"])
def test_what_was_not_handled_locks_nobody_out(queue: Any, delayed: Any, admin: Any, end: str) -> None:
    by = Admission(name="h", unique_for=3600, unique_by=letter)
    queue.add_all(["a1", "a2"])
    (a1,) = admit(queue, by, visible=0.002 if end == "crash" else 60)
    if end == "crash":
        lapse(admin, a1)
    else:
        assert a1.nack() if end == "nack" else a1.reject("no")
    (next_one,) = admit(queue, by)
    assert next_one.value == ("a2" if end == "reject" else "a1")
    assert next_one.ack()
    admitted, found = told(queue, by)
    assert (admitted.dropped, found) == ([] if end == "reject" else [b"a2"], [])


def test_by_default_equal_bytes_are_the_same_value(queue: Any) -> None:
    by = Admission(name="h", unique_for=60)
    queue.add_all(["a", "a", "b", "a"])
    deliveries = admit(queue, by)
    assert values(deliveries) == ["a", "b"]
    queue.ack_all(deliveries)
    dropped: list[bytes] = []
    while queue.size():
        dropped += told(queue, by)[0].dropped
    assert dropped == [b"a", b"a"]


def test_a_lease_and_a_lock_end_as_soon_as_their_spans_are_over_and_not_before(queue: Any, admin: Any) -> None:
    def up_to_ms(us: int) -> int:
        return -(-us // 1000)

    def server_us() -> int:
        seconds, micros = admin.time()
        return int(seconds) * 1_000_000 + int(micros)

    for number in range(100):
        span_us = 60_000_000 + 37 * number
        by = Admission(name="h", unique_for=span_us / 1_000_000, unique_by=letter)
        admin.delete(KEYS.handled)
        queue.add("a")
        before = server_us()
        (delivery,) = admit(queue, by, visible=span_us / 1_000_000)
        after = server_us()
        deadline_ms = round(delivery.deadline.timestamp() * 1000)
        assert up_to_ms(before + span_us) <= deadline_ms <= up_to_ms(after + span_us)
        assert delivery.ack()
        ((_, until_ms),) = admin.zrange(KEYS.handled, 0, -1, withscores=True)
        assert up_to_ms(after + span_us) <= until_ms <= up_to_ms(server_us() + span_us)


# -- the rest --------------------------------------------------------------------------------------------------------


def test_the_same_call_again_gives_the_same_leases(queue: Any, admin: Any) -> None:
    by = Admission(name="h", limit=Limit(2), key=letter)
    queue.add_all(["a1", "a2", "b1", "c1"])
    source, run = queue.source(), queue.connections.run
    seen = [by.seen(data.decode(), data, 1) for data in run(source.peek(10))]
    request = source.admit(10, by.words_of_keys(None), seen)
    first, again = run(request), run(request)
    assert [each.id for each in first.leased] == [each.id for each in again.leased]
    assert len(first.leased) == 2
    assert whereabouts(admin).total == Counter([b"a1", b"a2", b"b1", b"c1"])


def test_it_stops_at_a_value_that_was_not_seen(queue: Any, admin: Any) -> None:
    queue.add_all(["a1", "b1", "c1"])
    source, run = queue.source(), queue.connections.run
    admitted = run(source.admit(10, [], [KEYED.seen(value, value.encode(), 0) for value in ("a1", "c1")]))
    assert [each.data for each in admitted.leased] == [b"a1"]
    assert queue.read_all() == ["b1", "c1"]


def test_values_that_came_for_others_are_first(queue: Any, admin: Any) -> None:
    admin.rpush(KEYS.arrivals, "a1")
    queue.add_all(["a2", "b1"])
    (a1, b1) = admit(queue, KEYED)
    assert (a1.value, b1.value) == ("a1", "b1")


def test_nothing_it_keeps_has_an_end_in_redis(queue: Any, admin: Any) -> None:
    """A server with the policy volatile-lru evicts keys that have one."""
    by = Admission(name="h", limit=Limit(1), rate=Rate(1, per=3600), key=letter, unique_for=60)
    queue.add_all(["a1", "a2", "b1", "c1"])
    (a1,) = admit(queue, by)
    assert a1.ack()
    admit(queue, by)
    for key in (KEYS.lines, KEYS.turns, KEYS.handled, KEYS.leases, KEYS.deliveries, KEYS.histories):
        assert admin.pttl(key) < 0, key


@pytest.mark.parametrize("name", ["orders", "{x}:orders", "a b", "ü"])
def test_all_keys_are_in_one_slot(name: str) -> None:
    keys = QueueKeys.of(name)
    assert len({key_slot(key.encode()) for key in (keys.ready, keys.lines, keys.turns, keys.handled)}) == 1


def test_with_the_legacy_envelope_java_moves_what_is_parked(url: str, admin: Any) -> None:
    with tuned(probe_interval=NO_PROBE), redisson_dq.connect(url, codec=StringCodec(), envelope="legacy") as client:
        queue = opened(client, envelope=Envelope.LEGACY)
        queue.add_all(["a1", "a2"])
        (a1,) = admit(queue, KEYED)
        ((member, _),) = [row for row in admin.zrange(KEYS.timeout, 0, -1, withscores=True) if b"a2" in row[0]]
        assert admin.lrange(KEYS.envelopes, 0, -1) == [member]
        assert a1.ack()
        assert admin.llen(KEYS.envelopes) == 0
        assert values(admit(queue, KEYED)) == ["a2"]


def test_a_bounded_queue_has_room_again_for_what_is_dropped(client: Any, admin: Any) -> None:
    queue = Opened(client.bounded_blocking_queue("orders", transfer=False), client.runtime.connections)
    queue.try_set_capacity(5)
    queue.add_all(["a", "a", "b"])
    by = Admission(name="h", unique_for=60)
    queue.ack_all(admit(queue, by))
    assert told(queue, by)[0].dropped == [b"a"]
    assert queue.remaining_capacity() == 5


@pytest.mark.parametrize("key", ["ready", "timeout", "lines", "turns", "handled", "leases", "deliveries"])
def test_a_key_of_another_type_changes_nothing(queue: Any, admin: Any, key: str) -> None:
    queue.add("a1")
    source, run = queue.source(), queue.connections.run
    admin.delete(getattr(KEYS, key))
    admin.set(getattr(KEYS, key), "text")
    before = dump(admin)
    with pytest.raises(WrongTypeError):
        run(source.admit(10, [], [KEYED.seen("a1", b"a1", 0)]))
    assert dump(admin) == before


@pytest.mark.parametrize("command", sorted({*load("admit").commands, "PUBLISH", "SET", "GET"}))
def test_without_a_right_nothing_is_done_or_all(
    admin: Any, server: Any, queue: Any, delayed: Any, command: str
) -> None:
    by = Admission(name="h", limit=Limit(2), rate=Rate(5, per=60), key=letter, unique_for=60)
    queue.add_all(["a1", "a2", "b1", "c1", "d1"])
    held = admit(queue, by, visible=0.002)
    lapse(admin, held[0])
    admin.execute_command("ACL", "SETUSER", "limited", "on", ">secret", "~*", "&*", "+@all", f"-{command}")
    before = contents(admin)
    refused: str | None = None
    admitted: list[bytes] = []
    try:
        with redisson_dq.connect(server.url.replace("://", "://limited:secret@"), codec=StringCodec()) as client:
            limited = opened(client)
            seen = [by.seen(value, value.encode(), 1) for value in ("a1", "a2", "b1", "c1", "d1")]
            try:
                request = limited.source().admit(10, by.words_of_keys(None), seen)
                admitted = [each.data for each in limited.connections.run(request).leased]
            except RedisReplyError as error:
                refused = str(error)
        if refused is None:
            assert len(admitted) == 2
        else:
            assert command.lower() in refused.lower()
            assert contents(admin) == before
    finally:
        admin.execute_command("ACL", "DELUSER", "limited")


def contents(admin: Any) -> dict[bytes, Any]:
    """Everything but alarms, which expire. (A DUMP tells a hash's fields in an order that a look may change.)"""
    readers = {
        b"list": lambda key: admin.lrange(key, 0, -1),
        b"zset": lambda key: admin.zrange(key, 0, -1, withscores=True),
        b"hash": admin.hgetall,
        b"string": admin.get,
    }
    keys = [key for key in admin.scan_iter() if key != KEYS.alarm.encode()]
    return {key: readers[admin.type(key)](key) for key in keys}


# -- the definitions -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        lambda: Rate(0),
        lambda: Rate(True),
        lambda: Rate(1.5),  # type: ignore[arg-type]
        lambda: Rate(5, per=0),
        lambda: Rate(5, per=-1),
        lambda: Rate(5, per="x"),  # type: ignore[arg-type]
        lambda: Rate(5, burst=0),
        lambda: Rate(10**9, per=86_400),
        lambda: Limit(0),
        lambda: Limit(10**6),
        lambda: Limit("4"),  # type: ignore[arg-type]
    ],
)
def test_limits_that_cannot_be_are_refused(make: Callable[[], object]) -> None:
    with pytest.raises(ArgumentError, match=r"rate=|limit="):
        make()


def line_of(key: Any) -> bytes:
    return Admission(name="h", key=lambda _: key).seen("v", b"v", 0).key


def test_different_keys_have_different_lines() -> None:
    keys = [1, "1", b"1", None, "None", (1,), ("1",), (1, 2), ("1,2",), (1, (2,)), ((1, 2),), "", (), uuid.UUID(int=1)]
    assert len({line_of(key) for key in keys}) == len(keys)
    assert len({line_of(key) for key in (1, True, Level.LOW)}) == 1


class Level(enum.IntEnum):
    LOW = 1


@pytest.mark.parametrize("key", [1.5, [], {}, object(), ("a", 1.5)])
def test_what_is_no_key_is_refused(key: Any) -> None:
    with pytest.raises(BadKey, match="a str, bytes, int, UUID, None or a tuple"):
        Admission(name="h", key=lambda _: key).seen("v", b"v", 0)


def nested(depth: int) -> tuple[Any, ...]:
    key: tuple[Any, ...] = ()
    for _ in range(depth):
        key = (key,)
    return key


@pytest.mark.parametrize("key", [10**5000, nested(10_000)], ids=["number", "tuples"])
def test_a_key_that_python_gives_no_text_of_is_refused(key: Any) -> None:
    with pytest.raises(BadKey, match="key= failed"):
        Admission(name="h", key=lambda _: key).seen("v", b"v", 0)
