"""Bytes that cannot be decoded are set aside, and the queue goes on."""

from __future__ import annotations

import sys
from typing import Any

import attrs
import pytest

from redisson_dq import codecs
from redisson_dq.codecs import Codec, LongCodec, StringCodec
from redisson_dq.errors import DecodeError, EncodeError, EnvelopeError, RedisReplyError, WrongTypeError
from redisson_dq.items import Outcome
from redisson_dq.java import java_class
from redisson_dq.wire.envelope import Envelope, wrap
from tests.conftest import PATIENCE, eventually
from tests.flavours import Flavour
from tests.integration.conftest import KEYS

ID = b"\x01" * 8
MALFORMED = {
    "empty": b"",
    "short": b"\x08abc",
    "length beyond the end": b"\x08" + ID + (99).to_bytes(8, "little") + b"value",
    "length too small": b"\x08" + ID + (1).to_bytes(8, "little") + b"value",
    "a shorter id": b"\x05" + ID[:5] + (5).to_bytes(8, "little") + b"value",
    "a longer id and another length": b"\x0b" + ID + b"\x01" * 3 + (4).to_bytes(8, "little") + b"value",
    "huge length": b"\x08" + ID + b"\xff" * 8 + b"value",
    "text": b'{"id": 1, "value": "a foreign writer"}',
    "large": b"x" * 100_000,
}


@pytest.mark.parametrize("kind", MALFORMED)
def test_a_malformed_member_is_set_aside(
    kind: str, admin: Any, queue: Any, delayed: Any, caplog: pytest.LogCaptureFixture
) -> None:
    member = MALFORMED[kind]
    eventually(lambda: admin.pubsub_numsub(KEYS.channel)[0][1] == 1)
    delayed.offer("before", delay=0)
    assert queue.take() == "before"
    # In one step, as a transfer may come at any moment.
    admin.pipeline().zadd(KEYS.timeout, {member: 5}).rpush(KEYS.envelopes, member).publish(KEYS.channel, "5").execute()
    delayed.offer("behind", delay=0.02)
    assert queue.take() == "behind"
    assert admin.zcard(KEYS.timeout) == 0
    assert admin.llen(KEYS.envelopes) == 0
    assert admin.lrange(KEYS.quarantine, 0, -1) == [b"5 " + member]
    (kept,) = delayed.read_quarantine()
    assert (kept.score, kept.member) == (5, member)
    eventually(lambda: KEYS.quarantine in caplog.text)
    assert caplog.text.count("in no envelope format") == 1


def test_a_malformed_member_that_is_not_due_stays(admin: Any, queue: Any, delayed: Any) -> None:
    admin.zadd(KEYS.timeout, {b"later": 2**50, b"never": "inf"})
    delayed.offer("a", delay=0.05)
    assert queue.take() == "a"
    assert admin.zrange(KEYS.timeout, 0, -1) == [b"later", b"never"]
    assert not admin.exists(KEYS.quarantine)


def test_a_score_that_is_no_whole_number(admin: Any, queue: Any) -> None:
    seconds, microseconds = admin.time()
    now_ms = seconds * 1000 + microseconds / 1000
    scores = {wrap(Envelope.CURRENT, ID, b"first"): "-inf"}
    for offset, value in ((200.5, b"c"), (100.25, b"b"), (-0.75, b"a")):
        scores[wrap(Envelope.LEGACY, ID, value)] = str(now_ms + offset)
    admin.zadd(KEYS.timeout, scores)
    admin.publish(KEYS.channel, "0")
    assert [queue.take() for _ in range(4)] == ["first", "a", "b", "c"]


@pytest.mark.parametrize("score", ["-inf", "-1e300", "-1"])
def test_what_is_due_before_1970_is_as_late_as_what_was_due_then(admin: Any, producer: Any, score: str) -> None:
    admin.zadd(KEYS.timeout, {wrap(Envelope.CURRENT, ID, b"a"): score})
    found = producer.overdue()
    assert found.count == 1
    assert abs(admin.time()[0] - found.late_by.total_seconds()) < PATIENCE


def test_both_formats_in_one_queue(flavour: Flavour, admin: Any, url: str, queue: Any, delayed: Any) -> None:
    with flavour.connect(url, codec=StringCodec(), envelope="legacy") as old:
        legacy = old.delayed_queue("orders", transfer=False)
        for i in range(10):
            (legacy if i % 2 else delayed).offer(f"v{i}", delay=1 + i / 100)
        assert legacy.read_all() == delayed.read_all() == [f"v{i}" for i in range(10)]
        assert (legacy.poll(), legacy.poll(), delayed.peek()) == ("v0", "v1", "v2")
        assert [queue.take() for _ in range(8)] == [f"v{i}" for i in range(2, 10)]
    assert admin.keys() == []


def test_poll_of_the_delayed_side_sets_malformed_members_aside(
    admin: Any, client: Any, caplog: pytest.LogCaptureFixture
) -> None:
    delayed = client.delayed_queue("orders", transfer=False)
    for i, member in enumerate(MALFORMED.values()):
        admin.zadd(KEYS.timeout, {member: 2**45 + i})
        admin.rpush(KEYS.envelopes, member)
    admin.rpush(KEYS.envelopes, b"listed only")
    delayed.offer("a", delay=60)
    delayed.offer("b", delay=60)
    assert delayed.poll() == "a"
    assert delayed.poll(5) == ["b"]
    assert "in no envelope format" in caplog.text
    kept = delayed.read_quarantine()
    assert [entry.member for entry in kept] == [*MALFORMED.values(), b"listed only"]
    assert [entry.score for entry in kept] == [*(2.0**45 + i for i in range(len(MALFORMED))), None]
    assert admin.keys() == [KEYS.quarantine.encode()]


def test_reading_a_malformed_member_names_it(admin: Any, client: Any) -> None:
    delayed = client.delayed_queue("orders", transfer=False)
    admin.rpush(KEYS.envelopes, b"junk")
    for call in (delayed.peek, delayed.read_all):
        with pytest.raises(EnvelopeError) as caught:
            call()
        assert caught.value.member == b"junk"
    assert admin.lrange(KEYS.envelopes, 0, -1) == [b"junk"]


@pytest.mark.parametrize("call", ["take", "poll", "poll_timeout", "poll_limit"])
def test_an_undecodable_value_is_kept(admin: Any, client: Any, call: str) -> None:
    queue = client.blocking_queue("orders", LongCodec())
    calls = {
        "take": queue.take,
        "poll": queue.poll,
        "poll_timeout": lambda: queue.poll(timeout=5),
        "poll_limit": lambda: queue.poll(limit=5),
    }
    admin.rpush("orders", b"one", b"2")
    with pytest.raises(DecodeError) as caught:
        calls[call]()
    error = caught.value
    assert (error.data, error.codec, error.kept_in) == (b"one", "LongCodec", KEYS.undecodable)
    assert error.decoded == ([2] if call == "poll_limit" else [])
    assert admin.lrange(KEYS.undecodable, 0, -1) == [b"one"]
    assert queue.read_undecodable() == [b"one"]
    assert queue.poll() == (None if call == "poll_limit" else 2), "the queue goes on"


@pytest.mark.parametrize("call", ["take", "poll", "poll_timeout", "poll_limit"])
def test_undecodable_values_can_be_skipped(
    flavour: Flavour, admin: Any, url: str, call: str, caplog: pytest.LogCaptureFixture
) -> None:
    with flavour.connect(url, codec=LongCodec(), undecodable="skip") as client:
        queue = client.blocking_queue("orders")
        calls = {
            "take": queue.take,
            "poll": queue.poll,
            "poll_timeout": lambda: queue.poll(timeout=5),
            "poll_limit": lambda: queue.poll(limit=1)[0],
        }
        admin.rpush("orders", b"one", b"three", b"2")
        assert calls[call]() == 2
        assert queue.read_undecodable() == [b"one", b"three"]
        assert caplog.text.count("skipped 1 value: LongCodec") == 2
        admin.rpush("orders", b"four")
        assert queue.poll(timeout=0.05) is None
        admin.rpush("orders", b"five")
        with pytest.raises(DecodeError):
            queue.read_all()


def test_more_values_than_python_nests_calls_can_be_skipped(flavour: Flavour, admin: Any, url: str) -> None:
    count = sys.getrecursionlimit() + 100
    with flavour.connect(url, codec=LongCodec(), undecodable="skip") as client:
        queue = client.blocking_queue("orders")
        admin.rpush("orders", *[b"x"] * count)
        assert queue.poll(limit=1) == []
        assert len(queue.read_undecodable(0, -1)) == count


@pytest.mark.parametrize("timeout", [None, 0.1, PATIENCE])
def test_a_move_skips_what_cannot_be_read(
    flavour: Flavour, admin: Any, url: str, timeout: float | None, caplog: pytest.LogCaptureFixture
) -> None:
    with flavour.connect(url, codec=LongCodec(), undecodable="skip") as client:
        queue = client.blocking_queue("orders")
        admin.rpush(KEYS.ready, "no number", "5", "nor this")
        assert queue.move("archive", timeout=timeout) == 5
        assert queue.move("archive", timeout=None if timeout is None else 0.1) is None
        assert admin.lrange("archive", 0, -1) == [b"no number", b"5", b"nor this"]
    assert caplog.text.count("skipped 1 value: LongCodec") == 2


@pytest.mark.parametrize("timeout", [None, PATIENCE])
def test_a_move_tells_where_a_value_stays_that_cannot_be_read(
    flavour: Flavour, admin: Any, url: str, timeout: float | None
) -> None:
    with flavour.connect(url, codec=LongCodec()) as client:
        queue = client.blocking_queue("orders")
        admin.rpush(KEYS.ready, "no number", "5")
        with pytest.raises(DecodeError) as caught:
            queue.move("archive", timeout=timeout)
        assert caught.value.kept_in == "archive"
        assert queue.move("archive", timeout=timeout) == 5
        assert admin.lrange("archive", 0, -1) == [b"no number", b"5"]


@pytest.mark.parametrize("timeout", [None, PATIENCE])
def test_a_move_within_a_queue_does_not_skip_for_ever(
    flavour: Flavour, admin: Any, url: str, timeout: float | None
) -> None:
    with flavour.connect(url, codec=LongCodec(), undecodable="skip") as client:
        queue = client.blocking_queue("orders")
        admin.rpush(KEYS.ready, "no number", "5")
        with pytest.raises(DecodeError) as caught:
            queue.move("orders", timeout=timeout)
        assert caught.value.kept_in == KEYS.ready
        assert queue.move("orders", timeout=timeout) == 5, "the other value was next"
        assert admin.lrange(KEYS.ready, 0, -1) == [b"no number", b"5"]


def test_undecodable_values_of_the_delayed_side_can_be_skipped(flavour: Flavour, admin: Any, url: str) -> None:
    with flavour.connect(url, codec=StringCodec(), undecodable="skip") as client:
        texts = client.delayed_queue("orders", transfer=False)
        numbers = client.delayed_queue("orders", LongCodec(), transfer=False)
        count = sys.getrecursionlimit() + 100
        texts.offer_all([("x", 60)] * count + [("2", 60), ("three", 60), ("4", 60)])
        assert numbers.poll() == 2
        assert numbers.poll(limit=5) == [4]
        assert numbers.poll() is None
        assert admin.llen(KEYS.undecodable) == count + 1


def test_a_value_that_is_skipped_but_cannot_be_put_away_is_in_the_error(flavour: Flavour, admin: Any, url: str) -> None:
    with flavour.connect(url, codec=LongCodec(), undecodable="skip") as client:
        admin.set(KEYS.undecodable, "in the way")
        admin.rpush("orders", b"one", b"2")
        with pytest.raises(DecodeError) as caught:
            client.blocking_queue("orders").take()
        assert (caught.value.kept_in, caught.value.undecodable) == (None, [b"one"])


def test_an_undecodable_value_of_the_delayed_side(admin: Any, client: Any) -> None:
    client.delayed_queue("orders", transfer=False).offer_all([("one", 60), ("2", 60), ("three", 60)])
    numbers = client.delayed_queue("orders", LongCodec(), transfer=False)
    for call in (numbers.peek, numbers.read_all):
        with pytest.raises(DecodeError) as caught:
            call()
        assert caught.value.kept_in == KEYS.timeout, "it was not taken out"
    with pytest.raises(DecodeError) as caught:
        numbers.poll(limit=9)
    assert caught.value.decoded == [2]
    assert admin.lrange(KEYS.undecodable, 0, -1) == [b"one", b"three"]
    assert numbers.is_empty()


def test_an_undecodable_value_that_cannot_be_put_away_is_in_the_error(admin: Any, client: Any) -> None:
    queue = client.blocking_queue("orders", LongCodec())
    admin.set(KEYS.undecodable, "in the way")
    admin.rpush("orders", b"one", b"2", b"three")
    with pytest.raises(DecodeError) as caught:
        queue.poll(limit=5)
    assert caught.value.kept_in is None
    assert (caught.value.decoded, caught.value.undecodable) == ([2], [b"one", b"three"])
    assert isinstance(caught.value.__cause__, WrongTypeError)


def test_a_codec_of_the_users_own_may_fail_in_any_way(admin: Any, client: Any) -> None:
    class Broken(Codec):
        def encode(self, value: Any) -> bytes:
            return bytes(value)

        def decode(self, data: bytes) -> Any:
            raise ZeroDivisionError("oops")

    admin.rpush("orders", b"a")
    with pytest.raises(EncodeError, match="Broken"):
        client.delayed_queue("orders", Broken()).offer("text", delay=1)
    with pytest.raises(DecodeError, match=r"oops.*redisson_dq_undecodable:\{orders\}") as caught:
        client.blocking_queue("orders", Broken()).take()
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert admin.lrange(KEYS.undecodable, 0, -1) == [b"a"]


class Leave(BaseException):
    """What no ``except Exception`` stops, without a text."""

    def __repr__(self) -> str:
        raise self

    __str__ = __repr__


#: What a value raises when it is made. An error that stands alone is raised once.
_raised: dict[int, list[BaseException]] = {}


@java_class("com.acme.Ending", serial_version_uid=1)
@attrs.define
class Ending:
    id: int

    def __attrs_post_init__(self) -> None:
        errors = _raised.get(self.id)
        if errors:
            raise errors[0] if len(errors) > 1 else errors.pop()


OBJECT_CODECS = [
    codecs.Kryo5Codec(),
    codecs.Kryo5Codec(references=True),
    codecs.SerializationCodec(),
    codecs.JsonJacksonCodec(),
    codecs.JsonJackson3Codec(),
    codecs.SmileJacksonCodec(),
    codecs.CborJacksonCodec(),
    codecs.MsgPackJacksonCodec(),
    codecs.IonJacksonCodec(),
    codecs.LZ4Codec(codecs.Kryo5Codec()),
]


@pytest.mark.parametrize("receives", [False, True], ids=["poll", "receive"])
def test_a_class_that_always_wants_to_end_the_program_makes_values_that_cannot_be_read(
    client: Any, admin: Any, receives: bool
) -> None:
    errors = [Leave(), SystemExit(3), KeyboardInterrupt(), GeneratorExit()]
    for number, codec in enumerate(OBJECT_CODECS):
        name = f"orders-{number}"
        queue = client.blocking_queue(name, codec)
        queue.add_all([Ending(id) for id in range(6)])
        data = admin.lrange(name, 0, -1)
        _raised.update({id: [error] * 2 for id, error in enumerate(errors, 1)})
        with pytest.raises(DecodeError, match="the value cannot be made: Leave, whose text cannot be had") as caught:
            queue.receive(limit=9) if receives else queue.poll(limit=9)
        assert caught.value.undecodable == data[1:5]
        read = [each.value for each in caught.value.decoded] if receives else caught.value.decoded
        assert read == [Ending(0), Ending(5)]
        assert admin.lrange(caught.value.kept_in, 0, -1) == data[1:5]
        queue.add(Ending(6))
        assert queue.take() == Ending(6), "the codec goes on"
        _raised.clear()


@pytest.mark.parametrize("flavour", ["sync"], indirect=True)
def test_an_interruption_while_a_value_is_made_is_no_fault_of_the_value(client: Any) -> None:
    queue = client.blocking_queue("orders", codecs.Kryo5Codec())
    queue.add(Ending(1))
    for call in (queue.take, queue.receive):
        _raised[1] = [KeyboardInterrupt()]
        with pytest.raises(KeyboardInterrupt):
            call()
    assert queue.take() == Ending(1)


def test_values_of_every_length(admin: Any, queue: Any, delayed: Any) -> None:
    values = ["", "x", "é" * 100, "y" * 70_000, "z" * 3_000_000]
    delayed.offer_all([(value, 0.01 * i) for i, value in enumerate(values)])
    assert [queue.take() for _ in values] == values


@pytest.mark.parametrize("record", [b"", b"garbage", b"w 5 5", b"w -5 0 0 ione", b"w " + b"9" * 400 + b" 0 0 ione"])
def test_a_broken_record_holds_up_nothing(admin: Any, queue: Any, producer: Any, record: bytes) -> None:
    item = producer.offer("a", delay=0.2, id="one")
    producer.offer("b", delay=0.25)
    entry = admin.hget(KEYS.records, "ione")
    admin.hset(KEYS.records, b"e" + entry, record)
    assert [queue.take(), queue.take()] == ["a", "b"]
    assert admin.zcard(KEYS.timeout) == admin.llen(KEYS.envelopes) == 0
    assert item.cancel() in (Outcome.DELIVERED, Outcome.UNKNOWN)
    assert producer.offer("c", delay=60, id="one", on_duplicate="replace").outcome
    assert producer.cancel("one") is Outcome.CANCELLED


def test_a_broken_count_of_expired_items_delivers_nothing_twice(admin: Any, client: Any, producer: Any) -> None:
    producer.pause()
    producer.offer("late", delay=0, expires=0)
    producer.offer("a", delay=0)
    admin.hset(KEYS.settings, "expired", "garbage")
    before = admin.time()
    eventually(lambda: admin.time() > (before[0], before[1] + 5000))
    queue = client.blocking_queue("orders")
    producer.resume()
    assert queue.take() == "a"
    producer.offer("b", delay=0.2)
    assert queue.take() == "b"
    assert producer.expired_count() == 1
    assert queue.is_empty()


@pytest.mark.parametrize("score", [2**42 + 0.25, "inf"])
def test_an_item_whose_score_is_no_whole_number_can_be_removed(admin: Any, producer: Any, score: Any) -> None:
    member = wrap(Envelope.CURRENT, ID, b"a")
    admin.zadd(KEYS.timeout, {member: score})
    admin.rpush(KEYS.envelopes, member)
    assert producer.remove("a") is True
    assert admin.zcard(KEYS.timeout) == admin.llen(KEYS.envelopes) == 0


def test_a_largest_size_that_is_no_number_limits_nothing(admin: Any, producer: Any) -> None:
    admin.hset(KEYS.settings, "max_size", "many")
    producer.offer("a", delay=60)
    producer.offer("b", delay=60, id="b")
    assert producer.offer_all([("c", 60)]) == 1
    assert producer.size() == 3
    with pytest.raises(RedisReplyError, match="holds b'many', which is not a number"):
        producer.max_size()
