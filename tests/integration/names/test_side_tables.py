"""The records of single items beside Java's keys: when they exist, for how long, and that they are removed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from redisson_dq.codecs import StringCodec
from redisson_dq.errors import DuplicateItemError
from redisson_dq.items import Outcome
from tests.conftest import eventually, moving
from tests.flavours import Flavour
from tests.integration.conftest import KEYS
from tests.integration.server import wait_until
from tests.interop.sides import HOUR, server_ms, take

#: How many records one call drops at most.
SWEPT = 20

MAIN = {KEYS.timeout.encode(), KEYS.envelopes.encode()}
SIDE = {KEYS.records.encode(), KEYS.forget.encode()}
#: What is known of a delivery to come stands from the offer on where the item has a name.
NAMED = {KEYS.deliveries.encode(), KEYS.histories.encode(), KEYS.history_ends.encode()}


@pytest.fixture
def forgetful(flavour: Flavour, url: str) -> Iterator[Any]:
    """A client that remembers for 50 ms."""
    with flavour.connect(url, codec=StringCodec(), remember=0.05) as client:
        yield client


def moved_by_java(admin: Any) -> None:
    """All that waits is gone, and the records are as they were: Java's script knows nothing of them."""
    admin.delete(KEYS.timeout, KEYS.envelopes)


def time_has_passed(admin: Any) -> None:
    """As if the time of every record had come."""
    admin.zadd(KEYS.forget, dict.fromkeys(admin.zrange(KEYS.forget, 0, -1), 1))


def test_plain_items_have_no_side_key(admin: Any, client: Any, producer: Any) -> None:
    producer.offer_all((f"{number}", 0.02) for number in range(100))
    item = producer.offer("a", delay=60)
    assert producer.find(item.id).due == item.due
    assert len(producer.items()) == 100
    with client.blocking_queue("orders") as queue:
        assert [take(queue) for _ in range(100)] == [f"{number}" for number in range(100)]
    assert set(admin.keys()) == MAIN
    assert producer.poll() == "a"
    assert admin.keys() == []


@pytest.mark.parametrize("options", [{"id": "42"}, {"deduplicate_for": 0.01}, {"expires": HOUR}])
def test_an_item_that_is_cancelled_leaves_one_line_for_a_while(
    admin: Any, forgetful: Any, options: dict[str, Any]
) -> None:
    delayed = forgetful.delayed_queue("orders", transfer=False)
    item = delayed.offer("a", delay=0.01, **options)
    assert set(admin.keys()) == MAIN | SIDE | (set() if "expires" in options else NAMED)
    assert item.cancel() is Outcome.CANCELLED
    assert set(admin.keys()) == {KEYS.forget.encode()}
    assert admin.zcard(KEYS.forget) == 1
    eventually(lambda: delayed.cancel("any") is Outcome.UNKNOWN and admin.keys() == [])


@pytest.mark.parametrize("options", [{"id": "42"}, {"deduplicate_for": 0.01}, {"expires": HOUR}])
def test_an_item_that_is_delivered_leaves_nothing_for_long(admin: Any, forgetful: Any, options: dict[str, Any]) -> None:
    delayed, queue = forgetful.delayed_queue("orders"), forgetful.blocking_queue("orders")
    delayed.offer("a", delay=0.01, **options)
    assert take(queue) == "a"
    if "expires" in options:
        # It might have been that late.
        time_has_passed(admin)
    eventually(lambda: delayed.cancel("any") is Outcome.UNKNOWN and admin.keys() == [])


def test_deliveries_sweep(admin: Any, forgetful: Any) -> None:
    """A queue that is used cleans up after itself, without any call on single items."""
    delayed, queue = forgetful.delayed_queue("orders"), forgetful.blocking_queue("orders")
    for number in range(100):
        delayed.offer("a", delay=0, id=f"{number}")
        assert take(queue) == "a"

    def used() -> bool:
        # A busy machine may let a record's time come while its value is ready. Minutes later it is looked at again.
        time_has_passed(admin)
        delayed.offer("plain", delay=0)
        return bool(take(queue) == "plain" and not admin.exists(KEYS.records, KEYS.forget))

    eventually(used)
    assert admin.keys() == []


def test_what_is_remembered_of_a_ready_value_goes_after_the_value(admin: Any, forgetful: Any) -> None:
    delayed, queue = forgetful.delayed_queue("orders"), forgetful.blocking_queue("orders")
    delayed.offer("a", delay=0, id="42")
    eventually(queue.size)

    def stays() -> bool:
        delayed.cancel("any")
        [(_, until_ms)] = admin.zrange(KEYS.forget, 0, -1, withscores=True)
        return bool(until_ms > server_ms(admin) + 200_000)

    eventually(stays)
    assert take(queue) == "a"
    time_has_passed(admin)
    eventually(lambda: delayed.cancel("any") is Outcome.UNKNOWN and admin.keys() == [])


@pytest.mark.parametrize("call", ["cancel", "reschedule", "offer", "transfer"])
def test_each_call_drops_some_of_what_java_left(admin: Any, client: Any, producer: Any, call: str) -> None:
    with client.pipeline() as pipeline:
        for number in range(500):
            pipeline.add(producer.requests.offer("a", 60, id=f"{number}"))
            pipeline.add(producer.requests.offer(f"{number}", 60, deduplicate_for=60))
    moved_by_java(admin)
    assert (admin.zcard(KEYS.forget), admin.hlen(KEYS.records)) == (1000, 3000)
    time_has_passed(admin)
    if call == "transfer":
        mover = moving(client.delayed_queue("orders"))
        eventually(lambda: admin.zcard(KEYS.forget) <= 1000 - SWEPT)
        mover.destroy()
    else:
        calls = {
            "cancel": lambda: producer.cancel("any"),
            "reschedule": lambda: producer.reschedule("any", 1),
            "offer": lambda: producer.offer("a", 60, expires=60),
        }
        for number in range(1, 51):
            calls[call]()
            assert admin.zcard(KEYS.forget) == 1000 - SWEPT * number + (number if call == "offer" else 0)
        assert admin.hlen(KEYS.records) == (50 if call == "offer" else 0)


@pytest.mark.parametrize(
    "options",
    [
        {"delay": 60, "id": "42"},
        {"delay": 60, "deduplicate_for": 120},
        {"delay": 60, "expires": 180},
        {"delay": timedelta(days=3_000_000), "id": "42"},
    ],
)
def test_neither_key_has_an_end_of_its_own(flavour: Flavour, admin: Any, url: str, options: dict[str, Any]) -> None:
    """A server with the policy volatile-lru evicts keys that have one."""
    with flavour.connect(url, remember=10) as client:
        delayed = client.delayed_queue("orders", transfer=False)
        item = delayed.offer("a", **options)
        item.reschedule(delay=options["delay"] * 2)
        # An earlier version gave them one.
        for key in (KEYS.records, KEYS.forget):
            assert admin.pttl(key) == -1
            admin.expire(key, 60)
        delayed.offer("b", delay=0, id="43")
        for key in (KEYS.records, KEYS.forget, KEYS.timeout, KEYS.envelopes):
            assert admin.pttl(key) == -1


def test_an_overdue_item_that_still_waits_is_not_forgotten(admin: Any, client: Any) -> None:
    delayed = client.delayed_queue("orders", transfer=False)
    own, payload = delayed.offer("a", delay=0, id="42"), delayed.offer("b", delay=0, deduplicate_for=HOUR)
    late = delayed.offer("late", delay=0, expires=0.001)
    moved = delayed.offer("c", delay=HOUR)
    assert delayed.reschedule(moved.id, 0) is Outcome.RESCHEDULED
    wait_until(admin, late.due + timedelta(milliseconds=5))
    for _ in range(5):
        time_has_passed(admin)
        assert delayed.cancel("any") is Outcome.UNKNOWN
        assert admin.zcard(KEYS.forget) == 4
        with pytest.raises(DuplicateItemError):
            delayed.offer("again", delay=0, id="42")
        with pytest.raises(DuplicateItemError):
            delayed.offer("b", delay=0, deduplicate_for=HOUR)
    assert moved.run_now() is Outcome.RESCHEDULED, "its other due time is known"
    queue = client.blocking_queue("orders")
    assert sorted(take(queue) for _ in range(3)) == ["a", "b", "c"]
    assert [item.data for item in delayed.read_expired()] == [b"late"]
    assert (own.cancel(), payload.cancel(), late.cancel()) == (Outcome.DELIVERED, Outcome.DELIVERED, Outcome.EXPIRED)


def test_what_a_delete_leaves(admin: Any, producer: Any) -> None:
    producer.offer("a", delay=60, id="42")
    producer.offer("b", delay=60).cancel()
    producer.offer_recurring("c", "hourly", every=HOUR)
    producer.set_max_size(5)
    producer.pause()
    assert producer.delete()
    assert admin.keys() == []


def test_what_a_clear_leaves(admin: Any, producer: Any) -> None:
    producer.offer("a", delay=60, id="42")
    producer.set_max_size(5)
    producer.clear()
    assert set(admin.keys()) == {KEYS.forget.encode(), KEYS.settings.encode()}
    assert producer.cancel("42") is Outcome.UNKNOWN
    assert producer.offer("a", delay=60, id="42").outcome.value == "offered"
    assert producer.max_size() == 5
