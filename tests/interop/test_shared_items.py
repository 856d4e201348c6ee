"""What Java services see of what Redisson lacks: cancelled and rescheduled items, ids, pauses, latest times."""

from __future__ import annotations

from typing import Any

import pytest
import redis

from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import QueueFullError
from redisson_dq.items import Outcome
from redisson_dq.wire.keys import QueueKeys
from tests.conftest import PATIENCE, eventually
from tests.flavours import Flavour
from tests.interop.conftest import Beside, OpenJava
from tests.interop.sides import HOUR, NO_PROBE, Taker, entries, open_delayed, server_ms
from tests.peer import VERSIONS

HOUR_MS = int(HOUR * 1000)

VERSION_AND_ENVELOPE = [(VERSIONS[0], "current"), (VERSIONS[-1], "legacy")]


@pytest.mark.parametrize(("version", "envelope"), VERSION_AND_ENVELOPE)
def test_items_of_java_are_named_by_the_ids_that_a_page_tells(
    look: redis.Redis,
    beside: Beside,
    queue: str,
) -> None:
    producer, delayed = beside.peer, beside.delayed
    producer.offer_all((f"item {number % 10}", HOUR_MS) for number in range(300))
    pages = [delayed.items(0, 149), delayed.items(150, 299)]
    items = [item for page in pages for item in page]
    assert [item.due.timestamp() * 1000 for item in items] == [score for _, score in entries(look, queue)]
    for item in items[::3]:
        assert delayed.cancel(item.id) is Outcome.CANCELLED
    for item in items[1::3]:
        assert delayed.reschedule(item.id, 2 * HOUR) is Outcome.RESCHEDULED
    untouched, moved = [item.value for item in items[2::3]], [item.value for item in items[1::3]]
    assert sorted(producer.delayed("read_all")) == sorted(untouched + moved)
    assert [item.value for item in delayed.items(0, 99)] == untouched
    assert sorted(item.value for item in delayed.items(100, 199)) == sorted(moved)
    for item in items[1::3]:
        assert item.run_now() is Outcome.RESCHEDULED
        assert delayed.cancel(item.id) is Outcome.CANCELLED
    assert producer.delayed("size") == 100


@pytest.mark.parametrize(("version", "envelope"), VERSION_AND_ENVELOPE)
def test_what_java_delivered(
    look: redis.Redis,
    beside: Beside,
    queue: str,
) -> None:
    """Java knows of no ids, latest times and pauses: it moves what is due."""
    keys = QueueKeys.of(queue)
    consumer, delayed = beside.peer, beside.delayed
    delayed.pause()
    items = [
        delayed.offer("made id", 0.01),
        delayed.offer("own id", 0.02, id="42"),
        delayed.offer("payload", 0.03, deduplicate_for=HOUR),
        delayed.offer("late", 0.04, expires=0),
        delayed.offer("run now", HOUR),
    ]
    assert items[4].run_now() is Outcome.RESCHEDULED
    cancelled = delayed.offer("cancelled", 0.01)
    assert cancelled.cancel() is Outcome.CANCELLED
    last = delayed.offer("last", 0.1)
    eventually(lambda: server_ms(look) > last.due.timestamp() * 1000 + 1)
    assert look.llen(keys.ready) == 0, "paused, and no Java there"
    taking = consumer.taking(6)
    consumer.call("open_delayed")
    taken = {item["value"] for item in taking.result(2 * PATIENCE)}
    assert taken == {"made id", "own id", "payload", "late", "run now", "last"}
    assert {item.cancel() for item in items} == {Outcome.DELIVERED}
    assert delayed.cancel("42") is Outcome.DELIVERED
    assert cancelled.cancel() is Outcome.UNKNOWN
    assert (delayed.expired_count(), delayed.read_expired(), delayed.is_paused()) == (0, [], True)
    assert not look.exists(keys.timeout, keys.envelopes)


def test_what_java_takes_out_before_its_time(
    redis7: EmbeddedServer, flavour: Flavour, java: OpenJava, queue: str
) -> None:
    other = java(redis7.url)
    with flavour.connect(redis7.url) as client:
        delayed = client.delayed_queue(queue, transfer=False)
        polled, removed = delayed.offer("polled", HOUR, id="1"), delayed.offer("removed", HOUR, id="2")
        assert other.delayed("poll") == "polled"
        assert other.delayed("remove", value="removed")
        assert (polled.cancel(), removed.cancel(), delayed.cancel("1")) == (Outcome.UNKNOWN,) * 3
        assert delayed.offer("again", HOUR, id="1").outcome.value == "offered", "the id is free"


def test_offers_of_java_count_and_are_not_refused(
    redis7: EmbeddedServer, flavour: Flavour, java: OpenJava, queue: str
) -> None:
    producer = java(redis7.url)
    with flavour.connect(redis7.url) as client:
        delayed = client.delayed_queue(queue, transfer=False)
        delayed.set_max_size(2)
        for number in range(3):
            producer.offer(number, HOUR_MS)
        with pytest.raises(QueueFullError):
            delayed.offer("a", HOUR)
        assert delayed.size() == 3


def test_java_sees_the_same_bytes_whatever_is_known_of_an_item(
    redis7: EmbeddedServer, look: redis.Redis, flavour: Flavour, java: OpenJava, queue: str
) -> None:
    """An id, a latest time, a reschedule and a recurrence change no byte of an entry."""
    keys = QueueKeys.of(queue)
    with flavour.connect(redis7.url) as client:
        delayed = client.delayed_queue(queue, transfer=False)
        options: list[dict[str, Any]] = [{}, {"id": "42"}, {"deduplicate_for": HOUR}, {"expires": HOUR}]
        for option in options:
            delayed.offer("a", HOUR, **option)
        delayed.offer("a", 1).reschedule(HOUR)
        delayed.offer_recurring("a", "hourly", every=HOUR)
        members: list[bytes] = look.lrange(keys.envelopes, 0, -1)  # type: ignore[assignment]
        # The first byte, then all behind the id.
        assert len({member[:1] + member[9:] for member in members}) == 1
        assert len({member[1:9] for member in members}) == 6
        assert sorted(member for member, _ in entries(look, queue)) == sorted(members)
        assert java(redis7.url).delayed("read_all") == ["a"] * 6


# -- wake-ups --------------------------------------------------------------------------------------------------------

CALLS = [("reschedule", (0.2,)), ("run_now", ())]


def _somebody_waits(admin: redis.Redis, queue: str) -> bool:
    channel = QueueKeys.of(queue).channel
    subscribed = dict(admin.pubsub_numsub(channel))[channel.encode()]
    return bool(subscribed == 1 and admin.info("clients")["blocked_clients"] == 1)


@pytest.mark.parametrize(("method", "args"), CALLS)
def test_a_new_head_wakes_python(
    redis7: EmbeddedServer, look: redis.Redis, flavour: Flavour, queue: str, method: str, args: tuple[Any, ...]
) -> None:
    with (
        flavour.connect(redis7.url, probe_interval=NO_PROBE) as client,
        flavour.connect(redis7.url) as other,
    ):
        producer = other.delayed_queue(queue, transfer=False)
        item, far = producer.offer("near", 2 * HOUR), producer.offer("far", HOUR)
        taker = Taker(client.blocking_queue(queue))
        eventually(lambda: _somebody_waits(look, queue))
        assert getattr(producer, method)(item.id, *args) is Outcome.RESCHEDULED
        taker.wait_for(1)
        assert getattr(far, method)(*args) is Outcome.RESCHEDULED
        taker.wait_for(2)
        assert server_ms(look) >= far.due.timestamp() * 1000
        client.close()
    assert taker.ended() == ["near", "far"]


@pytest.mark.parametrize(("method", "args"), CALLS)
def test_a_new_head_wakes_java(
    redis7: EmbeddedServer,
    look: redis.Redis,
    flavour: Flavour,
    java: OpenJava,
    queue: str,
    method: str,
    args: tuple[Any, ...],
) -> None:
    consumer = java(redis7.url)
    open_delayed(consumer, look)
    with flavour.connect(redis7.url) as client:
        delayed = client.delayed_queue(queue, transfer=False)
        delayed.offer("far", HOUR)
        item = delayed.offer("near", 2 * HOUR)
        taking = consumer.taking(1)
        eventually(lambda: _somebody_waits(look, queue))
        assert getattr(item, method)(*args) is Outcome.RESCHEDULED
        (taken,) = taking.result(2 * PATIENCE)
        assert taken["value"] == "near"
        assert taken["atMs"] >= item.due.timestamp() * 1000
        assert delayed.read_all() == ["far"]
        assert item.cancel() is Outcome.DELIVERED


def test_a_resume_wakes_java(
    redis7: EmbeddedServer, look: redis.Redis, flavour: Flavour, java: OpenJava, queue: str
) -> None:
    """It delivers all the time, and what it is told when a pause ends does it no harm."""
    consumer = java(redis7.url)
    with flavour.connect(redis7.url) as client:
        delayed = client.delayed_queue(queue, transfer=False)
        open_delayed(consumer, look)
        delayed.pause()
        taking = consumer.taking(2)
        delayed.offer("during the pause", 0.05)
        assert delayed.resume()
        delayed.offer("after it", 0.1)
        assert [item["value"] for item in taking.result(2 * PATIENCE)] == ["during the pause", "after it"]
