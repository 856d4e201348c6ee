"""What a call sends, and how it reads the reply. Nothing here connects to a server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
import redis

import redisson_dq
from redisson_dq.codecs import StringCodec
from redisson_dq.errors import (
    ArgumentError,
    DecodeError,
    DuplicateItemError,
    EncodeError,
    QueueEmptyError,
    QueueFullError,
    RedissonDQError,
)
from redisson_dq.wire.envelope import Envelope, wrap
from redisson_dq.wire.request import Request

ID = bytes(range(8))


@pytest.fixture
def client() -> Iterator[Any]:
    """A client of a server that is never asked."""
    with closing(redisson_dq.Client(redis.Redis(port=1), codec=StringCodec())) as made:
        yield made


@pytest.fixture
def ready(client: Any) -> Any:
    return client.blocking_queue("orders", transfer=False).requests


@pytest.fixture
def delayed(client: Any) -> Any:
    return client.delayed_queue("orders", transfer=False).requests


def arguments(request: Request[Any]) -> tuple[Any, ...]:
    """The arguments of a script call."""
    count = request.words[0]
    assert isinstance(count, int)
    found = request.words[count + 1 :]
    # After them comes the calling process.
    return found[:-1] if request.script is not None and request.script.notes else found


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda ready: ready.add("a"), ("RPUSH", "orders", b"a")),
        (lambda ready: ready.poll(), ("LPOP", "orders")),
        (lambda ready: ready.poll(3), ("LPOP", "orders", 3)),
        (lambda ready: ready.move("done", to_end="first"), ("LMOVE", "orders", "done", "LEFT", "LEFT")),
        (lambda ready: ready.range(1, -1), ("LRANGE", "orders", 1, -1)),
        (lambda ready: ready.size(), ("LLEN", "orders")),
    ],
)
def test_plain_commands(ready: Any, call: Callable[[Any], Request[Any]], words: tuple[Any, ...]) -> None:
    request = call(ready)
    assert (request.words, request.script, request.key) == (words, None, "orders")
    assert set(request.types.values()) == {"list"}


def test_a_script_is_told_its_keys_and_their_types(delayed: Any) -> None:
    request = delayed.offer("a", 2.5)
    assert request.script is not None
    assert request.script.name == "offer"
    assert request.words[:4] == (
        len(request.script.keys),
        "redisson_delay_queue_timeout:{orders}",
        "redisson_delay_queue:{orders}",
        "redisson_delay_queue_channel:{orders}",
    )
    assert request.types["redisson_delay_queue_timeout:{orders}"] == "zset"
    assert "redisson_delay_queue_channel:{orders}" not in request.types
    assert arguments(request) == ("current", "2500000", b"a")


@pytest.mark.parametrize(
    ("delay", "at", "word"),
    [
        (0, None, "0"),
        (timedelta(milliseconds=1), None, "1000"),
        (0.0000014, None, "2"),  # up: never early
        (None, datetime(2026, 1, 2, tzinfo=timezone.utc), "@1767312000000"),
    ],
)
def test_a_due_time_is_a_word(delayed: Any, delay: Any, at: Any, word: str) -> None:
    assert arguments(delayed.offer("a", delay, at))[1] == word


def test_values_are_encoded_before_anything_is_sent(ready: Any, delayed: Any) -> None:
    with pytest.raises(EncodeError):
        ready.add(5)
    with pytest.raises(EncodeError):
        delayed.offer(5, 1)
    with pytest.raises(EncodeError):
        delayed.offer_all([("a", 1), (5, 1)])


@pytest.mark.parametrize(
    "call",
    [
        lambda ready, delayed: ready.poll(0),
        lambda ready, delayed: ready.move("done", from_end="middle"),
        lambda ready, delayed: ready.range("a", 1),
        lambda ready, delayed: delayed.offer("a", -1),
        lambda ready, delayed: delayed.offer("a"),
        lambda ready, delayed: delayed.offer("a", 1, datetime(2026, 1, 2, tzinfo=timezone.utc)),
        lambda ready, delayed: delayed.offer("a", None, datetime(2026, 1, 2)),
        lambda ready, delayed: delayed.offer("a", 1, on_duplicate="keep"),
        lambda ready, delayed: delayed.offer("a", 1, id="", on_duplicate="keep"),
        lambda ready, delayed: delayed.offer("a", 1, id="x" * 513),
        lambda ready, delayed: delayed.offer_all(["a"]),
        lambda ready, delayed: delayed.items(0, 10_000),
        lambda ready, delayed: delayed.items(by="name"),
        lambda ready, delayed: delayed.set_max_size(0),
    ],
)
def test_arguments_are_checked_and_the_error_names_the_queue(
    ready: Any, delayed: Any, call: Callable[[Any, Any], object]
) -> None:
    with pytest.raises(ArgumentError, match="orders"):
        call(ready, delayed)


def test_many_offers_go_in_parts_of_what_a_call_takes(delayed: Any) -> None:
    parts = delayed.offer_all((f"v{number}", number) for number in range(2500))
    assert [len(arguments(part)) - 2 for part in parts] == [1000, 1000, 500]
    parts = delayed.offer_all([("a" * size, 1) for size in (600_000, 600_000, 2_000_000, 400_000, 600_000, 1, 1)])
    assert [len(arguments(part)) - 2 for part in parts] == [1, 1, 1, 2, 2]


def test_the_reply_to_an_offer_is_an_item(delayed: Any) -> None:
    request = delayed.offer("a", 60)
    item = request.parse([1, ID, 1_700_000_060_000, 1_700_000_000_000_000])
    assert item.id == f"1700000060000-{ID.hex()}"
    assert item.due == datetime.fromtimestamp(1_700_000_060, timezone.utc)


def test_a_full_queue_and_a_duplicate_are_errors(delayed: Any) -> None:
    with pytest.raises(QueueFullError, match="orders"):
        delayed.offer("a", 60).parse([0, b"", 0, 1_700_000_000_000_000])
    reply = [b"duplicate", ID, 1_700_000_060_000, 1_700_000_000_000_000, b"waiting", b"old"]
    with pytest.raises(DuplicateItemError) as caught:
        delayed.offer("a", 60, id="x").parse(reply)
    assert (caught.value.id, caught.value.state) == ("x", "waiting")


def test_nothing_is_none_or_an_error_by_the_call(ready: Any) -> None:
    assert ready.poll().parse(None) is None
    assert ready.poll(3).parse(None) == []
    assert ready.peek().parse(None) is None
    with pytest.raises(QueueEmptyError):
        ready.element().parse(None)


@pytest.mark.parametrize(("limit", "reply"), [(None, b"\xff"), (3, [b"a", b"\xff", b"b"])])
def test_what_cannot_be_decoded_tells_what_was_popped_with_it(ready: Any, limit: int | None, reply: Any) -> None:
    request = ready.poll() if limit is None else ready.poll(limit)
    assert request.aside == "redisson_dq_undecodable:{orders}"
    with pytest.raises(DecodeError) as caught:
        request.parse(reply)
    assert caught.value.data == b"\xff"
    assert caught.value.decoded == ([] if limit is None else ["a", "b"])


def test_what_stays_in_redis_is_kept_nowhere_else(ready: Any, delayed: Any) -> None:
    for request in (ready.peek(), ready.read_all(), ready.move("done"), delayed.read_all()):
        assert request.aside is None


def test_waiting_entries_are_unwrapped_in_either_format(delayed: Any) -> None:
    entries = [wrap(Envelope.CURRENT, ID, b"a"), wrap(Envelope.LEGACY, ID, b"b")]
    assert delayed.read_all().parse(entries) == ["a", "b"]
    with pytest.raises(RedissonDQError, match="neither"):
        delayed.read_all().parse([b"x"])


def test_a_converted_request_is_the_same_exchange(ready: Any) -> None:
    request = ready.poll(2)
    doubled = request.then(lambda values: values * 2, aside="elsewhere")
    assert (doubled.words, doubled.types, doubled.aside) == (request.words, request.types, "elsewhere")
    assert doubled.parse([b"a"]) == ["a", "a"]
    confirmed = doubled.durably(redisson_dq.Durability(replicas=1))
    assert confirmed.durable == redisson_dq.Durability(replicas=1)
    assert doubled.durably(None) is doubled


def test_a_client_that_wants_confirmation_asks_for_it_where_something_is_added() -> None:
    wanted = redisson_dq.Durability(replicas=2)
    with closing(redisson_dq.Client(redis.Redis(port=1), codec=StringCodec(), durable=wanted)) as client:
        queue = client.blocking_queue("orders", transfer=False)
        delayed = client.delayed_queue(queue, transfer=False)
        own = redisson_dq.Durability(replicas=1)
        assert [request.durable for request in (queue.requests.add("a"), delayed.requests.offer("a", 1))] == [
            wanted
        ] * 2
        assert delayed.requests.offer("a", 1, durable=own).durable == own
        assert queue.requests.poll().durable is None
