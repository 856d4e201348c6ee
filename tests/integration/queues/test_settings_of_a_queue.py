"""Settings of a whole queue: pause, largest size, and the fate of items that are too late."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from redisson_dq.codecs import ByteArrayCodec, StringCodec
from redisson_dq.errors import ArgumentError, QueueFullError
from redisson_dq.items import OfferOutcome, Outcome
from tests.conftest import eventually
from tests.flavours import Flavour
from tests.integration.conftest import KEYS
from tests.integration.server import of_server, wait_until
from tests.interop.sides import HOUR, NO_PROBE, Taker, take


@pytest.fixture
def elsewhere(flavour: Flavour, url: str) -> Iterator[Any]:
    """Another client, which learns of things by wake-ups alone."""
    with flavour.connect(url, codec=StringCodec(), probe_interval=NO_PROBE) as client:
        yield client


# -- pause and resume ------------------------------------------------------------------------------------------------


def test_a_pause_is_seen_everywhere_and_holds_delivery_alone(
    admin: Any, elsewhere: Any, producer: Any, client: Any
) -> None:
    there = elsewhere.delayed_queue("orders", transfer=False)
    assert (producer.is_paused(), producer.resume()) == (False, False)
    assert (producer.pause(), there.pause()) == (True, False)
    assert there.is_paused()
    queue = elsewhere.blocking_queue("orders")
    admin.rpush("orders", "ready before")
    assert take(queue) == "ready before"

    items = [there.offer(f"{number}", delay=0) for number in range(3)]
    assert producer.offer_all([("later", HOUR)]) == 1
    wait_until(admin, items[-1].due)
    assert queue.poll(timeout=0.1) is None
    assert producer.overdue().count == 3
    assert items[1].cancel() is Outcome.CANCELLED
    assert there.reschedule(items[2].id, delay=HOUR) is Outcome.RESCHEDULED
    assert items[0].run_now() is Outcome.RESCHEDULED
    assert producer.size() == 3

    assert producer.resume()
    assert take(queue) == "0"
    assert (there.is_paused(), there.resume()) == (False, False)
    assert producer.read_all() == ["2", "later"]


def test_a_resume_wakes_every_consumer(admin: Any, flavour: Flavour, url: str, elsewhere: Any, producer: Any) -> None:
    producer.pause()
    with flavour.connect(url, codec=StringCodec(), probe_interval=NO_PROBE) as another:
        takers = [Taker(made.blocking_queue("orders")) for made in (elsewhere, another)]
        eventually(lambda: admin.pubsub_numsub(KEYS.channel)[0][1] == 2)
        for number in range(100):
            last = producer.offer(f"{number}", delay=0.01)
        wait_until(admin, last.due)
        assert [taker.taken for taker in takers] == [[], []]
        producer.resume()
        eventually(lambda: sum(len(taker.taken) for taker in takers) == 100)
        elsewhere.close()
    assert sorted(int(value) for taker in takers for value in taker.ended()) == list(range(100))


def test_a_pause_outlives_every_client(flavour: Flavour, admin: Any, url: str) -> None:
    with flavour.connect(url, codec=StringCodec()) as first:
        first.delayed_queue("orders").pause()
        item = first.delayed_queue("orders").offer("a", delay=0)
    wait_until(admin, item.due)
    with flavour.connect(url, codec=StringCodec()) as second:
        queue, delayed = second.blocking_queue("orders"), second.delayed_queue("orders")
        assert queue.poll(timeout=0.1) is None
        delayed.clear()
        assert delayed.is_paused()
        delayed.offer("b", delay=0)
        delayed.resume()
        assert take(queue) == "b"


def test_a_pause_is_of_one_queue(client: Any) -> None:
    client.delayed_queue("orders", transfer=False).pause()
    client.delayed_queue("bills", transfer=False).offer("a", delay=0)
    assert take(client.blocking_queue("bills")) == "a"


# -- the largest size ------------------------------------------------------------------------------------------------


def test_the_largest_size(admin: Any, elsewhere: Any, producer: Any) -> None:
    assert producer.max_size() is None
    producer.set_max_size(3)
    there = elsewhere.delayed_queue("orders", transfer=False)
    assert there.max_size() == 3
    first = there.offer("a", delay=60, id="42")
    producer.offer_all([("b", 60), ("c", 60)])
    refused: list[dict[str, Any]] = [
        {},
        {"id": "43"},
        {"deduplicate_for": 60, "on_duplicate": "replace"},
        {"expires": 60},
    ]
    for options in refused:
        for delayed in (producer, there):
            with pytest.raises(QueueFullError, match="'orders'"):
                delayed.offer("d", delay=0, **options)
    assert producer.read_all() == ["a", "b", "c"]
    assert producer.offer("e", delay=60, id="42", on_duplicate="keep").outcome is OfferOutcome.KEPT
    assert producer.offer("e", delay=60, id="42", on_duplicate="replace").outcome is OfferOutcome.REPLACED
    assert producer.read_all() == ["b", "c", "e"]
    assert first.cancel() is Outcome.UNKNOWN
    assert there.cancel("42") is Outcome.CANCELLED
    producer.offer("f", delay=60)
    producer.set_max_size(None)
    assert there.max_size() is None
    assert there.offer_all([("g", 60)] * 5) == 5
    assert not admin.exists(KEYS.settings)


def test_offer_all_beyond_the_largest_size(producer: Any) -> None:
    producer.set_max_size(1500)
    with pytest.raises(QueueFullError, match="1000 of 2500 values were offered before"):
        producer.offer_all((f"{number}", 60) for number in range(2500))
    assert producer.size() == 1000
    assert producer.offer_all((f"{number}", 60) for number in range(500)) == 500
    with pytest.raises(QueueFullError):
        producer.offer_all([("one", 60)])


def test_a_size_below_what_waits_takes_nothing_out(client: Any, producer: Any) -> None:
    producer.offer_all([("a", 0), ("b", 60)])
    producer.set_max_size(1)
    assert producer.size() == 2
    assert take(client.blocking_queue("orders")) == "a"
    with pytest.raises(QueueFullError):
        producer.offer("c", delay=0)
    assert producer.poll() == "b"
    producer.offer("c", delay=60)


def test_what_java_offers_counts(admin: Any, producer: Any) -> None:
    producer.set_max_size(2)
    for entry in ("one", "two", "three"):
        admin.zadd(KEYS.timeout, {entry: 9e15})
    with pytest.raises(QueueFullError):
        producer.offer("a", delay=0)


@pytest.mark.parametrize("size", [0, -1, True, 1.5, "3"])
def test_a_size_is_a_positive_int(producer: Any, size: Any) -> None:
    with pytest.raises(ArgumentError, match="a size"):
        producer.set_max_size(size)


# -- items that come too late ----------------------------------------------------------------------------------------


def test_in_time(client: Any, producer: Any) -> None:
    producer.offer("a", delay=0.02, expires=HOUR)
    producer.offer("b", delay=0.03, expires=timedelta(hours=1), id="42")
    queue = client.blocking_queue("orders")
    assert [take(queue), take(queue)] == ["a", "b"]
    assert (producer.read_expired(), producer.expired_count()) == ([], 0)
    assert producer.cancel("42") is Outcome.DELIVERED


@pytest.mark.parametrize("nobody", ["paused", "no client"])
def test_too_late(flavour: Flavour, admin: Any, url: str, producer: Any, nobody: str) -> None:
    if nobody == "paused":
        producer.pause()
        mover = flavour.connect(url, codec=StringCodec())
        mover.blocking_queue("orders").start_moving()
        eventually(lambda: admin.pubsub_numsub(KEYS.channel)[0][1] == 1)
    item = producer.offer("late", delay=0.01, expires=0.02)
    own = producer.offer("late, own id", delay=0.01, expires=0.02, id="42")
    moved = producer.offer("moved along", delay=0.01, expires=0.02)
    wait_until(admin, own.due + timedelta(milliseconds=25))
    # It may be as late as before, after its new time.
    assert moved.reschedule(0.05) is Outcome.RESCHEDULED
    last = producer.offer("last", delay=0.06)
    wait_until(admin, last.due)
    wait_until(admin, moved.due + timedelta(milliseconds=25))
    if nobody == "paused":
        producer.resume()
    else:
        mover = flavour.connect(url, codec=StringCodec())
    with mover:
        assert take(mover.blocking_queue("orders")) == "last"
        assert mover.blocking_queue("orders").poll() is None
    found = producer.read_expired()
    assert [(one.data, one.due) for one in found] == [
        (b"late", item.due),
        (b"late, own id", own.due),
        (b"moved along", moved.due),
    ]
    assert producer.expired_count() == 3
    for outcome in (item.cancel(), own.cancel(), producer.cancel("42"), producer.run_now(item.id), moved.reschedule(1)):
        assert outcome is Outcome.EXPIRED
    kept = producer.offer("again", delay=0, id="42", on_duplicate="keep")
    assert (kept.outcome, kept.cancel()) == (OfferOutcome.KEPT, Outcome.EXPIRED)
    replaced = producer.offer("again", delay=60, id="42", on_duplicate="replace")
    assert (replaced.outcome, own.cancel()) == (OfferOutcome.OFFERED, Outcome.EXPIRED)


def test_an_item_that_expired_keeps_its_bytes(flavour: Flavour, admin: Any, url: str) -> None:
    values = [b"", b"\0", b"a\0b", b" ", b"%s\n", bytes(range(256)), b"\0" * 99]
    with flavour.connect(url, codec=ByteArrayCodec()) as client:
        producer = client.delayed_queue("orders", transfer=False)
        for value in values:
            last = producer.offer(value, delay=0, expires=0)
        wait_until(admin, last.due)
        client.blocking_queue("orders").start_moving()
        eventually(lambda: producer.expired_count() == len(values))
        assert [item.data for item in producer.read_expired()] == values
        assert admin.llen(KEYS.ready) == 0


def test_a_time_that_has_passed_and_its_latest_time_too(admin: Any, producer: Any, client: Any) -> None:
    producer.offer("a", at=of_server(admin, -60_000), expires=59)
    producer.offer("b", at=of_server(admin, -60_000), expires=HOUR)
    assert take(client.blocking_queue("orders")) == "b"
    assert [item.data for item in producer.read_expired()] == [b"a"]


def test_the_last_thousand_are_kept_and_all_are_counted(flavour: Flavour, admin: Any, url: str) -> None:
    with flavour.connect(url, codec=StringCodec(), transfer_batch=700) as client:
        producer = client.delayed_queue("orders", transfer=False)
        with client.pipeline() as pipeline:
            for number in range(1200):
                pipeline.add(producer.requests.offer(f"{number}", delay=0, expires=0))
        eventually(lambda: producer.overdue().count == 1200)
        last = producer.items(1199, 1199)[0]
        wait_until(admin, last.due)
        client.blocking_queue("orders").start_moving()
        eventually(lambda: producer.expired_count() == 1200)
        assert [int(item.data) for item in producer.read_expired(0, 1999)] == list(range(200, 1200))
        assert [int(item.data) for item in producer.read_expired(-2, -1)] == [1198, 1199]
        assert admin.llen(KEYS.ready) == admin.zcard(KEYS.timeout) == 0
