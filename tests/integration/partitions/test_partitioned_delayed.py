"""The delayed side of a partitioned queue: where items go, and the results of calls over all partitions."""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
import redis

from redisson_dq import OfferOutcome, Outcome, partition_names
from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import (
    ArgumentError,
    ClosedError,
    DuplicateItemError,
    QueueFullError,
    RedisConnectionError,
    RedisReplyError,
    RedissonDQError,
)
from redisson_dq.wire.partitions import partition_of
from tests.conftest import eventually, moving
from tests.flavours import Flavour
from tests.integration.server import of_server

COUNT = 4


@pytest.fixture
def delayed(client: Any) -> Any:
    return client.delayed_queue("orders", partitions=COUNT)


@pytest.fixture
def producer(client: Any) -> Any:
    return client.delayed_queue("orders", partitions=COUNT, transfer=False)


def waiting(delayed: Any) -> list[list[str]]:
    """What waits in each partition, in the order of the offers."""
    return [partition.read_all() for partition in parts(delayed)]


def parts(delayed: Any) -> list[Any]:
    """The handles of the partitions, in either flavour."""
    return [delayed.partition_for(key) for key in KEYS]


def key_for(partition: int, count: int = COUNT) -> str:
    return next(key for key in map(str, range(1000)) if partition_of(key, count) == partition)


#: One key for each partition.
KEYS = [key_for(i) for i in range(COUNT)]


# -- opening ---------------------------------------------------------------------------------------------------------


def test_each_partition_is_an_ordinary_queue(client: Any, producer: Any) -> None:
    assert producer.name == "orders"
    assert [partition.name for partition in producer.partitions] == partition_names("orders", COUNT)
    producer.offer("a", 60, key=KEYS[2])
    assert client.delayed_queue(partition_names("orders", COUNT)[2], transfer=False).read_all() == ["a"]
    assert (
        repr(getattr(producer, "inner", producer))
        == "PartitionedDelayedQueue('orders', partitions=4, StringCodec('utf-8'))"
    )


def test_options_hold_for_every_partition(client: Any, admin: Any) -> None:
    codec = StringCodec("latin-1")
    delayed = moving(client.delayed_queue("orders", codec, partitions=2))
    assert delayed.codec is codec
    assert [partition.codec for partition in delayed.partitions] == [codec] * 2
    channels = [partition.keys.channel for partition in delayed.partitions]
    eventually(lambda: [count for _, count in admin.pubsub_numsub(*channels)] == [1, 1])
    delayed.destroy()
    delayed.destroy()
    eventually(lambda: [count for _, count in admin.pubsub_numsub(*channels)] == [0, 0])
    with pytest.raises(ClosedError):
        delayed.size()
    with pytest.raises(ClosedError):
        delayed.offer("x", 1)


def test_lean_partitions(client: Any, admin: Any) -> None:
    delayed = client.delayed_queue("orders", partitions=2, transfer=False, lean=True)
    delayed.offer_all((str(i), 60) for i in range(10))
    assert [admin.zcard(partition.keys.timeout) for partition in delayed.partitions] == [5, 5]
    assert [admin.llen(partition.keys.envelopes) for partition in delayed.partitions] == [0, 0]


def test_the_name_mapper_of_the_client(flavour: Flavour, url: str) -> None:
    with flavour.connect(url, codec=StringCodec(), name_mapper="shop:") as client:
        delayed = client.delayed_queue("orders", partitions=3, transfer=False)
        assert [partition.name for partition in delayed.partitions] == partition_names("orders", 3, "shop:")
        assert [partition.keys.ready for partition in delayed.partitions] == [
            f"shop:{name}" for name in partition_names("orders", 3, "shop:")
        ]


def test_what_cannot_be_opened(flavour: Flavour, url: str, client: Any) -> None:
    for name, partitions in (("orders", 0), ("orders", 1025), ("orders", "4"), ("{shop}orders", 4), ("", 4)):
        with pytest.raises(ArgumentError):
            client.delayed_queue(name, partitions=partitions)
    with flavour.connect(url, name_mapper="{shop}") as mapped, pytest.raises(ArgumentError, match="name mapper"):
        mapped.delayed_queue("orders", partitions=4)
    for handle in (client.blocking_queue("orders"), client.blocking_queue("orders", partitions=4)):
        with pytest.raises(ArgumentError, match="partitions= is for a queue's name"):
            client.delayed_queue(getattr(handle, "inner", handle), partitions=4)
    client.close()
    with pytest.raises(ClosedError):
        client.delayed_queue("orders", partitions=4)


# -- where offers go -------------------------------------------------------------------------------------------------


def test_a_key_has_its_partition(producer: Any) -> None:
    for i, key in enumerate(KEYS):
        for n in range(3):
            assert producer.offer(f"{i}-{n}", 60, key=key).outcome is OfferOutcome.OFFERED
    assert waiting(producer) == [[f"{i}-{n}" for n in range(3)] for i in range(COUNT)]
    assert (producer.size(), producer.is_empty()) == (12, False)


def test_without_a_key_they_take_turns(producer: Any) -> None:
    for i in range(2 * COUNT):
        producer.offer(str(i), 60)
    assert [len(values) for values in waiting(producer)] == [2] * COUNT


def test_duplicates_meet(producer: Any) -> None:
    first = producer.offer("a", 60, id="42")
    with pytest.raises(DuplicateItemError):
        producer.offer("b", 60, id="42")
    assert producer.offer("b", 60, id="42", on_duplicate="keep") == first
    producer.offer("same", 60, deduplicate_for=60)
    for _ in range(COUNT):
        with pytest.raises(DuplicateItemError):
            producer.offer("same", 60, deduplicate_for=60)
    assert producer.size() == 2
    # Under a key it is another item.
    other = next(key for key in KEYS if partition_of(key, COUNT) != partition_of("42", COUNT))
    assert producer.offer("c", 60, id="42", key=other) != first


def test_all_options_of_an_offer(producer: Any, admin: Any) -> None:
    due = of_server(admin, 60_000)
    item = producer.offer("a", at=due, key="k", id="7", expires=timedelta(seconds=5))
    assert abs(item.due - due) < timedelta(milliseconds=2)
    with pytest.raises(ArgumentError):
        producer.offer("a", 1, key="k", on_duplicate="keep")
    for key in (5, b"k"):
        with pytest.raises(ArgumentError, match="a key must be a str"):
            producer.offer("a", 1, key=key)
    with pytest.raises(ArgumentError, match="an id is a str"):
        producer.offer("a", 1, id=5)
    assert producer.size() == 1


def test_many_at_once(producer: Any) -> None:
    values = [f"{i % 7}:{i}" for i in range(2500)]
    assert producer.offer_all([(value, 60) for value in values], key=lambda value: value[0]) == 2500
    for i, found in enumerate(waiting(producer)):
        assert found == [value for value in values if partition_of(value[0], COUNT) == i]
    producer.clear()
    assert producer.offer_all((str(i), 60) for i in range(40)) == 40
    assert [len(found) for found in waiting(producer)] == [10] * COUNT
    assert producer.offer_all([]) == 0
    assert producer.offer_all([("a:1", 60), ("a:2", 60)], key=lambda value: value[0], context={"of": "shop"}) == 2
    assert [item.value for item in producer.items(0, 99) if item.value.startswith("a:")] == ["a:1", "a:2"]


def test_batches_of_one_partition_keep_their_order(producer: Any) -> None:
    values = [str(i) for i in range(3500)]
    assert producer.offer_all([(value, 60) for value in values], key=lambda _: "k") == 3500
    assert producer.partition_for("k").read_all() == values


@pytest.mark.parametrize(
    ("values", "key"),
    [([("a", 1), "b"], None), ([("a", 1), "b"], str), ([("a", -1)], None), ("ab", None), ([("a", 1)], lambda _: 5)],
)
def test_all_are_checked_before_any_is_sent(producer: Any, values: Any, key: Any) -> None:
    with pytest.raises(ArgumentError):
        producer.offer_all(values, key)
    with pytest.raises(ArgumentError):
        producer.offer_all([("a", 1)], "no function")
    assert producer.is_empty()


def test_an_error_tells_how_many_are_in(producer: Any) -> None:
    full = producer.partition_for(KEYS[0])
    full.set_max_size(5)
    with pytest.raises(QueueFullError, match=r"orders:0.*; 20 of 30 values were offered") as caught:
        producer.offer_all([(KEYS[i % 3], 60) for i in range(30)], key=lambda value: value)
    assert isinstance(caught.value, RedissonDQError)
    assert [len(found) for found in waiting(producer)] == [0, 10, 10, 0]


def test_an_error_tells_that_the_call_must_not_be_repeated(flavour: Flavour, server: EmbeddedServer) -> None:
    """This user may write to one of the partitions."""
    name = partition_names("orders", 2)[0]
    rights = ["reset", "on", ">secret", "+@all", "&*", f"~{name}", f"~*{{{name}}}*"]
    with redis.Redis.from_url(server.url) as admin:
        admin.execute_command("ACL", "SETUSER", "limited", *rights)
        url = server.url.replace("//", "//limited:secret@")
        with flavour.connect(url, codec=StringCodec()) as client:
            producer = client.delayed_queue("orders", partitions=2, transfer=False)
            with pytest.raises(RedisReplyError, match="; 5 of 10 values were offered") as caught:
                producer.offer_all((str(i), 60) for i in range(10))
        assert caught.value.maybe_done
        admin.acl_deluser("limited")


def test_an_error_before_anything_is_sent_tells_so_too(flavour: Flavour, own_server: EmbeddedServer) -> None:
    with flavour.connect(own_server.url, codec=StringCodec()) as client:
        producer = client.delayed_queue("orders", partitions=COUNT, transfer=False)
        own_server.stop()
        for _ in range(2):
            # The first time a connection breaks, then none can be made.
            with pytest.raises(RedisConnectionError, match="; 0 of 10 values were offered") as caught:
                producer.offer_all((str(i), 60) for i in range(10))
        assert not caught.value.maybe_done


# -- looking ---------------------------------------------------------------------------------------------------------


def test_pages_over_all_partitions(producer: Any) -> None:
    assert producer.items() == []
    delays = [(i * 37) % 100 + 1 for i in range(100)]
    producer.offer_all([(str(delay), delay * 60) for delay in delays])
    assert [item.value for item in producer.items()] == [str(delay) for delay in sorted(delays)]
    assert [item.value for item in producer.items(10, 14)] == ["11", "12", "13", "14", "15"]
    assert [item.value for item in producer.items(98, 200)] == ["99", "100"]
    for start, stop in ((-1, 5), (5, 2), (0, 10_000), ("0", 5)):
        with pytest.raises(ArgumentError):
            producer.items(start, stop)
    with pytest.raises(ArgumentError):
        producer.items(9_999, 10_001)
    first = producer.items(0, 0)[0]
    assert first.cancel() is Outcome.CANCELLED
    assert producer.items(0, 0)[0].value == "2"


def test_the_next_due_and_what_is_overdue(producer: Any) -> None:
    assert producer.next_due() is None
    assert (producer.overdue().count, producer.overdue().late_by) == (0, timedelta(0))
    later = producer.offer("later", 120, key=KEYS[0])
    sooner = producer.offer("sooner", 60, key=KEYS[1])
    assert (producer.next_due(), sooner.due < later.due) == (sooner.due, True)
    past = datetime(2020, 1, 1, tzinfo=timezone.utc)
    for key in KEYS:
        producer.offer("late", at=past, key=key)
    assert producer.overdue().count == COUNT
    assert producer.overdue().late_by > timedelta(days=365)


# -- single items ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["by id", "by a made id", "by key", "by key and id"])
def test_single_items_are_found_wherever_they_are(producer: Any, how: str) -> None:
    for value in "xyz":
        producer.offer(value, 60)
    options = {"by id": {"id": "42"}, "by key": {"key": "k"}, "by key and id": {"id": "42", "key": "k"}}.get(how, {})
    item = producer.offer("a", 60, **options)
    ways = [{}, {"key": "k"}] if "key" in options else [{}]
    for way in ways:
        assert producer.find(item.id, **way) == item
        assert producer.reschedule(item.id, 30, **way) is Outcome.RESCHEDULED
        assert producer.find(item.id if item.id == "42" else producer.items(0, 0)[0].id, **way) is not None
    found = producer.items(0, 0)[0]
    assert found.value == "a"
    assert producer.cancel(found.id, **ways[-1]) is Outcome.CANCELLED
    assert producer.cancel(found.id, **ways[-1]) is Outcome.UNKNOWN
    assert producer.find(found.id) is None
    assert producer.size() == 3


def test_an_id_under_two_keys(producer: Any) -> None:
    home = partition_of("42", COUNT)
    others = [key for i, key in enumerate(KEYS) if i != home][:2]
    for key in others:
        producer.offer(key, 60, id="42", key=key)
    for call in (producer.find, producer.cancel, producer.run_now):
        with pytest.raises(ArgumentError, match="wait in 2 partitions; give the key= of one"):
            call("42")
    assert producer.cancel("42", others[0]) is Outcome.CANCELLED
    assert producer.find("42").value == others[1]


def test_run_now_and_what_became_of_it(client: Any, delayed: Any) -> None:
    item = delayed.offer("a", 60, id="42")
    assert delayed.run_now("42") is Outcome.RESCHEDULED
    ready = client.blocking_queue(delayed.partition_for("42").name)
    assert ready.take() == "a"
    assert delayed.cancel("42") is Outcome.DELIVERED
    assert item.cancel() is Outcome.DELIVERED
    assert delayed.cancel("never") is Outcome.UNKNOWN
    # Whatever partition it was in.
    home = partition_of("43", COUNT)
    for key in (key for i, key in enumerate(KEYS) if i != home):
        delayed.offer("b", 0, id="43", key=key)
        assert client.blocking_queue(delayed.partition_for(key).name).take() == "b"
        assert delayed.cancel("43") is delayed.run_now("43") is Outcome.DELIVERED
    with pytest.raises(ArgumentError):
        delayed.cancel("")


# -- the whole of it -------------------------------------------------------------------------------------------------


def test_pause_and_resume(client: Any, delayed: Any) -> None:
    assert (delayed.is_paused(), delayed.resume()) == (False, False)
    delayed.partition_for(KEYS[1]).pause()
    assert not delayed.is_paused()
    assert (delayed.pause(), delayed.pause(), delayed.is_paused()) == (True, False, True)
    for key in KEYS:
        delayed.offer(key, 0, key=key)
    assert (delayed.resume(), delayed.resume(), delayed.is_paused()) == (True, False, False)
    for partition, key in zip(partition_names("orders", COUNT), KEYS, strict=True):
        assert client.blocking_queue(partition).take() == key


def test_clear(producer: Any) -> None:
    producer.offer_all((str(i), 60) for i in range(20))
    producer.clear()
    assert (producer.size(), producer.is_empty(), waiting(producer)) == (0, True, [[]] * COUNT)


def test_recurring_offers_are_in_one_partition(client: Any, producer: Any) -> None:
    assert producer.offer_recurring("tick", "t", every=60) is OfferOutcome.OFFERED
    assert producer.offer_recurring("tick", "t", every=60) is OfferOutcome.KEPT
    assert producer.offer_recurring("tick", "t", every=30, missed="all", missed_limit=5) is OfferOutcome.REPLACED
    (offer,) = producer.partition_for("t").recurring()
    assert (offer.id, offer.missed, offer.missed_limit) == ("t", "all", 5)
    # With more partitions the id has another place, and the offer goes on there alone.
    counts = [count for count in range(COUNT + 1, 50) if partition_of("t", count) >= COUNT]
    more = client.delayed_queue("orders", partitions=counts[0], transfer=False)
    assert more.offer_recurring("tick", "t", every=30) is OfferOutcome.REPLACED
    assert producer.size() == 0
    assert more.size() == 1
    assert (more.cancel_recurring("t"), more.cancel_recurring("t"), more.size()) == (True, False, 0)
    with pytest.raises(ArgumentError):
        producer.offer_recurring("tick", "", every=30)


def test_partitions_added_later(client: Any, producer: Any) -> None:
    """What was offered before is where it was, and is found there."""
    items = [producer.offer(str(i), 60 + i, id=f"id-{i}") for i in range(20)]
    more = client.delayed_queue("orders", partitions=3 * COUNT, transfer=False)
    assert more.size() == 20
    assert [item.value for item in more.items()] == [str(i) for i in range(20)]
    assert all(more.find(item.id) == item for item in items)
    assert [more.cancel(item.id) for item in items] == [Outcome.CANCELLED] * 20


def test_every_partition_is_moved(client: Any, delayed: Any) -> None:
    delayed.offer_all((str(i), 0.01 * i) for i in range(100))
    queues = [client.blocking_queue(name, transfer=False) for name in partition_names("orders", COUNT)]
    eventually(lambda: sum(queue.size() for queue in queues) == 100)
    found = Counter(value for queue in queues for value in queue.read_all())
    assert found == Counter(map(str, range(100)))
