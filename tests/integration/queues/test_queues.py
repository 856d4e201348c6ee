"""A user's calls on the two sides of a queue, and the resulting data in Redis."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from redisson_dq.codecs import JsonJacksonCodec, LongCodec, ProtobufCodec, StringCodec
from redisson_dq.errors import ArgumentError, EncodeError
from redisson_dq.testing import TestClock
from redisson_dq.wire.envelope import Envelope, unwrap, wrap
from tests.conftest import eventually
from tests.flavours import Flavour
from tests.integration.conftest import KEYS
from tests.proto.shipment_pb2 import Shipment
from tests.unit.codecs.acme import Color


def server_ms(admin: Any) -> float:
    seconds, microseconds = admin.time()
    return float(seconds * 1000 + microseconds / 1000)


def test_an_item_arrives_when_it_is_due_and_not_before(admin: Any, queue: Any, delayed: Any) -> None:
    before = server_ms(admin)
    delayed.offer("a", delay=0.15)
    assert queue.poll() is None
    assert queue.take() == "a"
    assert server_ms(admin) >= before + 150
    assert admin.keys() == []


def test_items_arrive_in_due_order(queue: Any, delayed: Any) -> None:
    offers = (("late", 0.3), ("early", 0.1), ("middle", timedelta(seconds=0.2)))
    items = [delayed.offer(value, delay=delay) for value, delay in offers]
    # On a busy machine so much time may pass between two offers that the last one is due last.
    expected = [item.value for item in sorted(items, key=lambda item: item.due)]
    assert [queue.take() for _ in range(3)] == expected


def test_an_absolute_time(admin: Any, queue: Any, delayed: Any) -> None:
    at = datetime.now(timezone.utc) + timedelta(seconds=1)
    delayed.offer("a", at=at)
    ((_, score),) = admin.zrange(KEYS.timeout, 0, -1, withscores=True)
    assert 0 <= score - at.timestamp() * 1000 < 1
    assert queue.take() == "a"
    delayed.offer("past", at=at)
    assert queue.take() == "past"


def test_no_delay_is_due_at_once(queue: Any, delayed: Any) -> None:
    delayed.offer("a", delay=0)
    assert queue.take() == "a"


def test_a_thirty_day_delay_waits_in_redis_alone(admin: Any, delayed: Any) -> None:
    delayed.offer("a", delay=timedelta(days=30))
    ((_, score),) = admin.zrange(KEYS.timeout, 0, -1, withscores=True)
    assert 30 * 86_400_000 - 60_000 < score - server_ms(admin) <= 30 * 86_400_000 + 1


@pytest.mark.parametrize("envelope", list(Envelope))
def test_what_an_offer_writes(flavour: Flavour, admin: Any, url: str, envelope: Envelope) -> None:
    messages = admin.pubsub()
    messages.subscribe(KEYS.channel)
    assert messages.get_message(timeout=5)["type"] == "subscribe"
    with flavour.connect(url, codec=StringCodec(), envelope=envelope.value) as client:
        client.delayed_queue("orders", transfer=False).offer("a", delay=60)
    ((member, score),) = admin.zrange(KEYS.timeout, 0, -1, withscores=True)
    assert admin.lrange(KEYS.envelopes, 0, -1) == [member]
    entry_id, value = unwrap(member)
    assert wrap(envelope, entry_id, b"a") == member
    assert value == b"a"
    message = messages.get_message(timeout=5)
    assert message is not None
    assert message["data"] == str(int(score)).encode()
    messages.close()


def test_only_a_new_head_is_announced(admin: Any, producer: Any) -> None:
    messages = admin.pubsub()
    messages.subscribe(KEYS.channel)
    messages.get_message(timeout=5)
    for delay in (60, 90, 30, 40):
        producer.offer(str(delay), delay=delay)
    producer.offer_all([("100", 100), ("20", 20), ("10", 10)])
    producer.offer_all([("101", 101)])
    heads = [admin.zscore(KEYS.timeout, member) for member in admin.lrange(KEYS.envelopes, 0, -1)]
    expected = [heads[0], heads[2], heads[6]]
    received = [messages.get_message(timeout=5) for _ in expected]
    assert [int(message["data"]) for message in received if message] == expected
    assert messages.get_message(timeout=0.2) is None
    messages.close()


@pytest.mark.parametrize("batched", [False, True])
def test_ties_in_one_millisecond_keep_their_order(admin: Any, queue: Any, delayed: Any, batched: bool) -> None:
    values = [f"item-{i:04}" for i in range(2500 if batched else 300)]
    if batched:
        delayed.offer_all([(value, 3600) for value in values])
    else:
        at_time = datetime.now(timezone.utc) + timedelta(hours=1)
        for value in values:
            delayed.offer(value, at=at_time)
        assert len({score for _, score in admin.zrange(KEYS.timeout, 0, -1, withscores=True)}) == 1
    at = int(server_ms(admin)) + 100
    admin.zadd(KEYS.timeout, dict.fromkeys(admin.zrange(KEYS.timeout, 0, -1), at))
    admin.publish(KEYS.channel, at)
    assert [queue.take() for _ in values] == values


def test_ids_grow_with_the_order_of_offers(admin: Any, producer: Any) -> None:
    for i in range(50):
        producer.offer(f"single-{i}", delay=60)
        producer.offer_all([(f"batch-{i}-{j}", 60) for j in range(20)])
    ids = [unwrap(member)[0] for member in admin.lrange(KEYS.envelopes, 0, -1)]
    assert ids == sorted(set(ids))
    assert len(ids) == 50 * 21


def test_equal_values_are_separate_items(admin: Any, queue: Any, delayed: Any) -> None:
    delayed.offer_all([("same", 0.05)] * 1500)
    for _ in range(5):
        delayed.offer("same", delay=0.05)
    assert [queue.take() for _ in range(1505)] == ["same"] * 1505
    assert queue.poll() is None
    assert admin.keys() == []


def test_offer_all_is_sent_in_bounded_batches(admin: Any, producer: Any) -> None:
    assert producer.offer_all((f"v{i}", i) for i in range(2500)) == 2500
    assert admin.info("commandstats")["cmdstat_evalsha"]["calls"] == 3
    assert producer.offer_all([("x" * 400_000, 1)] * 5) == 5
    assert admin.info("commandstats")["cmdstat_evalsha"]["calls"] == 6
    assert producer.read_all()[:2500] == [f"v{i}" for i in range(2500)]
    assert producer.offer_all([("y" * 3_000_000, 1)]) == 1
    assert producer.offer_all([]) == 0


def test_offer_all_checks_everything_before_it_sends_anything(admin: Any, producer: Any) -> None:
    good = [("v", 1.0)] * 2000
    with pytest.raises(ArgumentError):
        producer.offer_all([*good, ("v", -1)])
    with pytest.raises(EncodeError):
        producer.offer_all([*good, (object(), 1)])
    assert admin.keys() == []


@pytest.mark.parametrize("pair", ["ab", ("v",), ("v", 1, 2), None, ("v", "soon")])
def test_offer_all_takes_pairs(admin: Any, producer: Any, pair: Any) -> None:
    if pair == "ab":
        pair = "abc"
    with pytest.raises(ArgumentError, match="orders"):
        producer.offer_all([("v", 1), pair])
    assert admin.keys() == []


def test_more_offers_at_once_than_connections(flavour: Flavour, admin: Any, url: str) -> None:
    # Another test may have left a connection to the garbage collector.
    others = {each["id"] for each in admin.client_list()}
    with flavour.connect(f"{url}?max_connections=3", codec=StringCodec()) as client:
        delayed = client.delayed_queue("orders", transfer=False)
        with ThreadPoolExecutor(60) as threads:
            list(threads.map(lambda i: delayed.offer(f"v{i}", delay=60), range(300)))
        assert delayed.size() == 300
        assert 1 <= len({each["id"] for each in admin.client_list()} - others) <= 3


def test_a_handle_that_is_destroyed_and_opened_again_at_once(client: Any, caplog: pytest.LogCaptureFixture) -> None:
    producer = client.delayed_queue("orders", transfer=False)
    for i in range(100):
        producer.offer(f"v{i}", delay=0.002)
        with client.blocking_queue("orders") as queue:
            assert queue.take() == f"v{i}"
    assert not caplog.records


def test_the_delayed_side(delayed: Any) -> None:
    assert delayed.is_empty()
    assert (delayed.peek(), delayed.poll(), delayed.poll(5), delayed.read_all()) == (None, None, [], [])
    delayed.offer_all([("c", 30), ("a", 10), ("b", 20), ("d", 40)])
    assert (delayed.size(), len(delayed), delayed.is_empty()) == (4, 4, False)
    assert delayed.read_all() == ["c", "a", "b", "d"], "the order of offers, not of due times"
    assert delayed.peek() == "c"
    assert delayed.poll() == "c"
    assert delayed.poll(2) == ["a", "b"]
    assert delayed.poll(9) == ["d"]
    assert delayed.is_empty()


def test_a_polled_item_is_gone_from_both_keys(admin: Any, delayed: Any) -> None:
    delayed.offer("a", delay=60)
    assert delayed.poll() == "a"
    assert admin.keys() == []


def test_the_ready_side(admin: Any, queue: Any) -> None:
    assert queue.is_empty()
    assert (queue.poll(), queue.poll(limit=5), queue.poll(timeout=0.05), queue.read_all()) == (None, [], None, [])
    admin.rpush("orders", *"abcdefg")
    assert (queue.size(), len(queue), queue.is_empty()) == (7, 7, False)
    assert queue.read_all() == list("abcdefg")
    assert (queue.poll(), queue.poll(limit=2), queue.poll(timeout=1), queue.take()) == ("a", ["b", "c"], "d", "e")
    assert queue.poll(limit=9) == ["f", "g"]


def test_a_deque_takes_from_both_ends(admin: Any, client: Any) -> None:
    deque = client.blocking_deque("orders")
    admin.rpush("orders", *"abcdefghij")
    assert (deque.take_first(), deque.take_last(), deque.take()) == ("a", "j", "b")
    assert (deque.poll_first(), deque.poll_last()) == ("c", "i")
    assert (deque.poll_first(limit=2), deque.poll_last(limit=2)) == (["d", "e"], ["h", "g"])
    assert (deque.poll_last(timeout=1), deque.poll_first(timeout=0.05)) == ("f", None)


def test_a_handle_knows_that_it_is_true_when_empty(queue: Any, delayed: Any) -> None:
    assert queue
    assert delayed


@pytest.mark.parametrize("limit", [0, -1, 1.5, True, "2"])
def test_a_limit_is_a_positive_int(queue: Any, delayed: Any, limit: Any) -> None:
    for handle in (queue, delayed):
        with pytest.raises(ArgumentError, match="positive int"):
            handle.poll(limit=limit)


def test_codecs_of_handles(client: Any) -> None:
    numbers = client.blocking_queue("numbers", LongCodec())
    client.delayed_queue(numbers).offer(5, delay=0.01)
    assert numbers.take() == 5
    assert repr(numbers) == "BlockingQueue('numbers', LongCodec())" or numbers.name == "numbers"
    with pytest.raises(EncodeError):
        client.delayed_queue(numbers, StringCodec()).offer(5, delay=1)


def test_a_value_that_was_read_from_other_bytes_is_not_looked_for(admin: Any, client: Any) -> None:
    """JDKs before 19 write more digits of that float. ``retain_all`` would have taken out what it is to keep."""
    queue = client.blocking_deque("numbers", JsonJacksonCodec())
    delayed = client.delayed_queue(queue, transfer=False)
    data = b'{"@class":"java.util.LinkedHashMap","a":9.999999999999999E22}'
    admin.rpush("numbers", data)
    value = queue.peek()
    for look in (
        *(queue.contains, queue.remove, queue.index_of, queue.last_index_of, queue.remove_first_occurrence),
        *(queue.remove_last_occurrence, delayed.contains, delayed.remove),
    ):
        with pytest.raises(EncodeError, match="was read from bytes that differ from how it is written") as caught:
            look(value)
        assert "the float 9.999999999999999E22 is written as 1.0E23" in str(caught.value)
    for look in (
        *(queue.contains_all, queue.remove_all, queue.retain_all),
        *(delayed.contains_all, delayed.remove_all, delayed.retain_all),
    ):
        with pytest.raises(EncodeError, match="was read from bytes that differ from how it is written"):
            look([{"a": 1.5}, value])
    assert queue.read_all() == [value]
    queue.offer(value)
    assert queue.remove({**value})
    assert admin.lrange("numbers", 0, -1) == [data]


WITHOUT_ROOM: list[tuple[Any, Any, bytes]] = [
    (JsonJacksonCodec(), Color.BLUE, b'["com.acme.Color", "BLUE"]'),
    (JsonJacksonCodec(), True, b" true"),
    (ProtobufCodec(Shipment), Shipment(stock={"a": 1, "b": 2}), b"\x3a\x05\x0a\x01b\x10\x02\x3a\x05\x0a\x01a\x10\x01"),
]


@pytest.mark.parametrize("was_read", [False, True])
@pytest.mark.parametrize(("codec", "value", "data"), WITHOUT_ROOM, ids=["constant", "bool", "message"])
def test_a_value_without_room_for_its_bytes_is_compared_with_those_of_the_queue(
    admin: Any, client: Any, codec: Any, value: Any, data: bytes, was_read: bool
) -> None:
    """No note can stand beside such a value. So each call says the same, whatever the process has read before."""
    queue = client.blocking_deque("values", codec)
    delayed = client.delayed_queue(queue, transfer=False)
    delayed.offer(value, 60)
    entry, due = admin.zrange(delayed.keys.timeout, 0, -1, withscores=True)[0]
    kept = wrap(Envelope.CURRENT, unwrap(entry)[0], data)
    admin.delete(delayed.keys.timeout, delayed.keys.envelopes)
    admin.zadd(delayed.keys.timeout, {kept: due})
    admin.rpush(delayed.keys.envelopes, kept)
    admin.rpush("values", data)
    if was_read:
        assert queue.peek() == delayed.peek() == value
    one = queue.remove_first_occurrence, queue.remove_last_occurrence, queue.index_of, queue.last_index_of
    for look in (*one, queue.contains, queue.remove, delayed.contains, delayed.remove):
        with pytest.raises(EncodeError, match=r"is stored with other bytes.*remove_if\(\) compares.*receive\(\)"):
            look(value)
    for handle in (queue, delayed):
        for look in (handle.contains_all, handle.remove_all, handle.retain_all):
            with pytest.raises(EncodeError, match="is stored with other bytes"):
                look([value])
    assert (admin.lrange("values", 0, -1), admin.zrange(delayed.keys.timeout, 0, -1)) == ([data], [kept])
    assert delayed.remove_if(lambda each: each == value) == 1
    delivery = queue.receive(timeout=0)
    assert (delivery.value, delivery.data) == (value, data)
    assert delivery.ack()
    queue.offer(value)
    for found in (queue.contains, queue.remove):
        assert found(value)
    for found in (queue.contains, queue.remove, delayed.contains, delayed.remove):
        assert not found(value)


def test_names_are_mapped(flavour: Flavour, admin: Any, url: str) -> None:
    with flavour.connect(url, codec=StringCodec(), name_mapper="prod:") as client:
        client.delayed_queue("orders", transfer=False).offer("a", delay=60)
    assert set(admin.keys()) == {b"redisson_delay_queue_timeout:{prod:orders}", b"redisson_delay_queue:{prod:orders}"}
    admin.flushall()
    with flavour.connect(url, codec=StringCodec(), name_mapper=lambda name: "{t1}:" + name) as client:
        queue = client.blocking_queue("orders")
        client.delayed_queue(queue).offer("a", delay=60)
        assert queue.name == "orders"
    assert set(admin.keys()) == {b"redisson_delay_queue_timeout:{t1}:orders", b"redisson_delay_queue:{t1}:orders"}


def test_more_due_than_one_call_moves(flavour: Flavour, url: str) -> None:
    with flavour.connect(url, codec=StringCodec(), transfer_batch=7) as client:
        client.delayed_queue("orders", transfer=False).offer_all([(f"v{i}", 0) for i in range(100)])
        queue = client.blocking_queue("orders")
        assert [queue.take() for _ in range(100)] == [f"v{i}" for i in range(100)]


def test_items_of_a_fire_and_forget_producer_are_delivered(flavour: Flavour, url: str) -> None:
    with TestClock(url) as clock:
        with flavour.connect(url, codec=StringCodec()) as producer:
            delayed = producer.delayed_queue("orders")
            delayed.offer("a", delay=60)
            delayed.destroy()
        clock.advance(120)
        with flavour.connect(url, codec=StringCodec()) as consumer:
            assert consumer.blocking_queue("orders").take() == "a"


def test_many_queues_of_one_client(client: Any) -> None:
    queues = [client.blocking_queue(f"q{i}") for i in range(40)]
    for i, queue in enumerate(queues):
        client.delayed_queue(queue, transfer=False).offer(f"v{i}", delay=0.1)
    assert [queue.take() for queue in queues] == [f"v{i}" for i in range(40)]


def test_a_client_without_a_consumer_moves_items_too(admin: Any, delayed: Any) -> None:
    delayed.offer_all([("a", 0.02), ("b", 0.04)])
    eventually(lambda: admin.llen("orders") == 2)
    assert admin.lrange("orders", 0, -1) == [b"a", b"b"]


def test_transfer_false_moves_nothing(admin: Any, client: Any) -> None:
    client.delayed_queue("orders", transfer=False).offer("a", delay=0)
    assert client.blocking_queue("orders", transfer=False).poll(timeout=0.3) is None
    assert admin.zcard(KEYS.timeout) == 1
    assert admin.pubsub_numsub(KEYS.channel) == [(KEYS.channel.encode(), 0)]
