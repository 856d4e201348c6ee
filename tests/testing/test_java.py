"""Java's side without Java: its bytes in Redis, and the values that it reads."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
import redis

from redisson_dq.errors import ArgumentError, EnvelopeError
from redisson_dq.testing import TestClock, java
from tests.flavours import Flavour
from tests.testing.conftest import START
from tests.unit.codecs.golden_rows import CODECS, rows
from tests.versions import NEWEST, OLDEST

HOUR = timedelta(hours=1)
START_MS = int(START.timestamp() * 1000)


@pytest.fixture
def of(flavour: Flavour) -> Any:
    """Calls a function of the kit with a handle, in its flavour."""

    def call(function: Any, *args: Any, **options: Any) -> Any:
        # A handle of asyncio stands inside a handle that is called as the threaded one.
        inner = [getattr(each, "inner", each) for each in args]
        if flavour.name == "sync":
            return function(*args, **options)

        async def called() -> Any:
            return await function(*inner, **options)

        return flavour.run(called())  # type: ignore[attr-defined]

    return call


@pytest.fixture
def look(url: str) -> Iterator[Any]:
    with redis.Redis.from_url(url) as made:
        yield made


@pytest.mark.parametrize("version", [NEWEST, OLDEST])
def test_an_offer_has_the_bytes_of_that_redisson(of: Any, client: Any, look: Any, version: str) -> None:
    texts = [row for row in rows() if row.redisson == version and row.java_type == "java.lang.String"]
    # StringCodec has no bytes for half a character.
    texts = [row for row in texts if not any("\ud800" <= each <= "\udfff" for each in row.value)]
    assert len({row.codec for row in texts}) > 2
    for number, row in enumerate(texts):
        delayed = client.delayed_queue(f"of {number}", CODECS[row.codec], transfer=False)
        of(java.offered_by, version, delayed, row.value, HOUR)
        member, score = look.zrange(delayed.keys.timeout, 0, -1, withscores=True)[0]
        assert look.lrange(delayed.keys.envelopes, 0, -1) == [member]
        assert score == START_MS + 3_600_000
        if version == NEWEST:
            assert (member[0], row.matches(member[17:])) == (8, True)
            assert int.from_bytes(member[9:17], "little") == len(member) - 17
        else:
            # A long of Java as a double.
            assert struct.unpack("<d", member[:8])[0].is_integer()
            assert (int.from_bytes(member[8:16], "little"), row.matches(member[16:])) == (len(member) - 16, True)


@pytest.mark.parametrize("version", ["4.3", "3.21.1", "3.21", "3.20"])
def test_an_item_of_java_falls_due_by_the_clock_of_the_test(
    of: Any, client: Any, queue: Any, delayed: Any, clock: TestClock, version: str
) -> None:
    of(java.offered_by, version, delayed, "late", HOUR)
    clock.settle()
    # Only its message tells a client that already waits for the head.
    of(java.offered_by, version, delayed, "soon", 0.0019)
    assert of(java.reads, delayed, version=version) == ["late", "soon"]
    clock.advance(0.001)
    assert of(java.reads, queue) == ["soon"]
    clock.advance(hours=1)
    assert (of(java.reads, queue), of(java.reads, delayed, version=version)) == (["soon", "late"], [])
    assert queue.poll(limit=2) == ["soon", "late"]


def test_redisson_reads_its_own_envelope_alone(of: Any, flavour: Flavour, url: str, client: Any, delayed: Any) -> None:
    delayed.offer("current", 60)
    assert of(java.reads, delayed) == ["current"]
    with pytest.raises(EnvelopeError, match=r"'orders': Redisson 3\.20 cannot read .* envelope=") as failed:
        of(java.reads, delayed, version="3.20")
    assert failed.value.member.endswith(b"current")
    delayed.clear()
    with flavour.connect(url, codec=delayed.codec, envelope="legacy") as old:
        old.delayed_queue("orders").offer("legacy", 60)
    assert of(java.reads, delayed, version="3.20") == ["legacy"]
    with pytest.raises(EnvelopeError):
        of(java.reads, delayed)


def test_lean_items_are_not_seen_by_java(of: Any, client: Any, delayed: Any) -> None:
    client.delayed_queue("orders", lean=True).offer("lean", 60)
    assert of(java.reads, delayed) == []


def test_wrong_arguments_are_named(of: Any, client: Any, queue: Any, delayed: Any) -> None:
    for version in ("4", "new", 4.3, "4.3-SNAPSHOT"):
        with pytest.raises(ArgumentError, match="a version of Redisson"):
            of(java.reads, delayed, version=version)
    for wrong in (queue, client.delayed_queue("orders", partitions=2), None):
        with pytest.raises(ArgumentError, match="a handle of a delayed queue"):
            of(java.offered_by, "4.3", wrong, "value")
    for wrong in (client.blocking_queue("orders", partitions=2), "orders"):
        with pytest.raises(ArgumentError, match="a handle of one queue"):
            of(java.reads, wrong)
    with pytest.raises(ArgumentError, match="'orders': a delay"):
        of(java.offered_by, "4.3", delayed, "value", -1)


def test_an_item_of_java_is_there_when_its_time_has_come(of: Any, queue: Any, delayed: Any, clock: TestClock) -> None:
    # No other call makes the client move the queue.
    of(java.offered_by, "4.3", delayed, "order-42", HOUR)
    clock.advance(hours=1)
    assert queue.poll() == "order-42"


def test_a_handle_that_moves_nothing_does_not_begin_to(of: Any, client: Any, clock: TestClock) -> None:
    delayed = client.delayed_queue("orders", transfer=False)
    of(java.offered_by, "4.3", delayed, "order-42", HOUR)
    clock.advance(hours=1)
    assert of(java.reads, delayed) == ["order-42"]
