"""What Python writes is what Java would have written, so each reads the other's: keys, entries, values."""

from __future__ import annotations

from typing import Any

import pytest
import redis

from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import ArgumentError
from tests.conftest import PATIENCE, eventually
from tests.flavours import Flavour
from tests.interop.conftest import OpenJava
from tests.interop.sides import CODINGS, HOUR, Coding, Taker, take
from tests.interop.values import KRYO5, TEXTS
from tests.peer import from_json

HOUR_MS = int(HOUR * 1000)

#: Name and NameMapper prefix.
NAMES = {
    "plain": ("orders", ""),
    "braces": ("orders:{eu}:1", ""),
    "only a left brace": ("orders{", ""),
    "only a right brace": ("orders}", ""),
    "no tag in its braces": ("orders{}", ""),
    "unicode": ("Auftr\u00e4ge-\u0437\u0430\u043a\u0430\u0437\u044b-\u6ce8\u6587-\U0001f6d2", ""),
    "odd characters": ("a b:*?[x]\"'\\", ""),
    "prefix": ("orders", "shop:"),
    "prefix with braces": ("orders", "{shop}:"),
    "prefix and braces": ("orders:{eu}", "shop:"),
}


def _without_ids(dumped: Any) -> list[str]:
    # 08, then 8 bytes of id, in hex.
    return [item[:2] + item[18:] for item in dumped]


@pytest.mark.parametrize(("name", "prefix"), NAMES.values(), ids=NAMES)
def test_both_use_the_same_keys(
    redis7: EmbeddedServer, look: redis.Redis, flavour: Flavour, java: OpenJava, name: str, prefix: str
) -> None:
    peer = java(redis7.url, queue=name, prefix=prefix)
    with flavour.connect(redis7.url, name_mapper=prefix or None) as client:
        ready = client.blocking_queue(name)
        delayed = client.delayed_queue(ready)
        delayed.offer("waits", delay=HOUR)
        peer.offer("waits", HOUR_MS)
        peer.call("open_delayed")
        eventually(lambda: look.pubsub_numsub(delayed.keys.channel)[0][1] == 2)

        taker = Taker(ready)
        delayed.offer("from Python", delay=0)
        taker.wait_for(1)
        peer.offer("from Java", 0)
        taker.wait_for(2)
        dump = peer.call("dump")
        found = set(look.keys("*"))
    assert taker.ended() == ["from Python", "from Java"]

    keys = delayed.keys
    assert (dump["ready"]["key"], dump["envelopes"]["key"], dump["timeouts"]["key"]) == (
        keys.ready,
        keys.envelopes,
        keys.timeout,
    )
    # The note of who moves is ours, and there while both have the queue open.
    assert found - {keys.mover.encode()} == {keys.envelopes.encode(), keys.timeout.encode()}
    ours, theirs = _without_ids(dump["envelopes"]["items"])
    assert ours == theirs
    assert sorted(item["hex"] for item in dump["timeouts"]["items"]) == sorted(dump["envelopes"]["items"])

    with flavour.connect(redis7.url, name_mapper=prefix or None) as client:
        client.delayed_queue(name).offer("for Java", delay=0)
        assert peer.call("take") == "for Java"


@pytest.mark.parametrize(
    ("coding", "value"),
    [
        *(pytest.param(CODINGS[0], value, id=f"default: {name}") for name, value in KRYO5.items()),
        *(pytest.param(CODINGS[1], value, id=f"StringCodec: {name}") for name, value in TEXTS.items()),
    ],
)
def test_both_write_the_same_value(
    redis7: EmbeddedServer, flavour: Flavour, java: OpenJava, queue: str, coding: Coding, value: Any
) -> None:
    peer = java(redis7.url, codec=coding.java)
    with flavour.connect(redis7.url, codec=coding.python) as client:
        delayed = client.delayed_queue(queue, transfer=False)
        delayed.offer(value, delay=HOUR)
        peer.offer(value, HOUR_MS)
        dump = peer.call("dump")
        ours, theirs = _without_ids(dump["envelopes"]["items"])
        assert ours == theirs
        assert from_json(peer.delayed("poll")) == value
        read = delayed.poll()
    assert read == value
    assert type(read) is type(value)


#: In the order of the offers, which is not the order they are due in.
WAITING = ["same", "other", "same", "", "same", "last"]


def test_java_reads_what_python_wrote(redis7: EmbeddedServer, flavour: Flavour, java: OpenJava, queue: str) -> None:
    peer = java(redis7.url)
    with flavour.connect(redis7.url) as client:
        delayed = client.delayed_queue(queue)
        for number, value in enumerate(WAITING):
            delayed.offer(value, delay=HOUR - number)
        assert peer.delayed("size") == len(WAITING)
        assert peer.delayed("read_all") == WAITING
        assert peer.delayed("contains", value="other")
        assert not peer.delayed("contains", value="another")
        assert not peer.delayed("remove", value="another")

        assert peer.delayed("remove", value="same")
        assert delayed.read_all() == WAITING[1:]
        assert peer.delayed("peek") == "other"
        assert peer.delayed("poll") == "other"
        assert peer.delayed("poll_limit", limit=2) == ["same", ""]
        assert delayed.read_all() == ["same", "last"]
        # What Java removed is gone from both keys: the rest is all that can fall due.
        dump = peer.call("dump")
        assert sorted(item["hex"] for item in dump["timeouts"]["items"]) == sorted(dump["envelopes"]["items"])
        assert peer.delayed("poll_limit", limit=10) == ["same", "last"]
        assert peer.delayed("poll") is None
        assert delayed.is_empty()

        for value in WAITING:
            delayed.offer(value, delay=0)
        ready = client.blocking_queue(queue)
        eventually(lambda: ready.size() == len(WAITING))
        assert peer.ready("read_all") == WAITING
        assert peer.ready("contains", value="")
        assert peer.ready("remove", value="same")
        assert peer.ready("peek") == "other"
        assert peer.ready("poll_limit", limit=2) == ["other", "same"]
        assert peer.ready("poll", timeoutMs=1000) == ""
        assert ready.read_all() == ["same", "last"]


def test_python_reads_what_java_wrote(
    redis7: EmbeddedServer, look: redis.Redis, flavour: Flavour, java: OpenJava, queue: str
) -> None:
    peer = java(redis7.url)
    for number, value in enumerate(WAITING):
        peer.offer(value, HOUR_MS - number)
    with flavour.connect(redis7.url) as client:
        delayed = client.delayed_queue(queue)
        assert (delayed.size(), len(delayed)) == (len(WAITING), len(WAITING))
        assert delayed.read_all() == WAITING
        assert delayed.peek() == "same"
        assert delayed.poll() == "same"
        assert delayed.poll(3) == ["other", "same", ""]
        assert peer.delayed("read_all") == ["same", "last"]
        dump = peer.call("dump")
        assert sorted(item["hex"] for item in dump["timeouts"]["items"]) == sorted(dump["envelopes"]["items"])
        assert delayed.poll(10) == ["same", "last"]
        assert (delayed.poll(), delayed.peek(), delayed.is_empty()) == (None, None, True)
        assert [key for key in look.keys("*") if key != delayed.keys.mover.encode()] == []

        for value in WAITING:
            peer.call("add", value=value)
        ready = client.blocking_queue(queue)
        assert (ready.size(), len(ready)) == (len(WAITING), len(WAITING))
        assert ready.read_all() == WAITING
        assert ready.poll() == "same"
        assert ready.poll(limit=2) == ["other", "same"]
        assert ready.poll(timeout=PATIENCE) == ""
        assert take(ready) == "same"
        assert client.blocking_deque(queue).poll_last() == "last"
        assert (ready.poll(), ready.poll(limit=5), ready.is_empty()) == (None, [], True)


def test_equal_values_are_items_of_their_own(
    redis7: EmbeddedServer, look: redis.Redis, flavour: Flavour, java: OpenJava, queue: str
) -> None:
    peer = java(redis7.url)
    with flavour.connect(redis7.url) as client:
        delayed = client.delayed_queue(queue, transfer=False)
        for _ in range(50):
            delayed.offer("same", delay=HOUR)
            peer.offer("same", HOUR_MS)
        delayed.offer_all([("same", 0.2)] * 100)
        assert peer.delayed("size") == 200
        assert peer.delayed("remove", value="same")

        taker = Taker(client.blocking_queue(queue))
        # One of the hundred that are due far ahead was removed, as the first in the order of the offers.
        taker.wait_for(100)
        assert delayed.read_all() == ["same"] * 99
    assert taker.ended() == ["same"] * 100


def test_null_comes_from_java_alone(redis7: EmbeddedServer, flavour: Flavour, java: OpenJava, queue: str) -> None:
    peer = java(redis7.url)
    with flavour.connect(redis7.url) as client:
        delayed, ready = client.delayed_queue(queue), client.blocking_queue(queue)
        peer.offer(None, 0)
        assert take(ready) is None
        # In Python nobody could tell it from an empty queue.
        with pytest.raises(ArgumentError, match="None cannot be added"):
            delayed.offer(None, 0)

    with flavour.connect(redis7.url) as client:
        delayed = client.delayed_queue(queue, transfer=False)
        peer.offer(None, HOUR_MS)
        assert delayed.read_all() == [None]
        assert delayed.contains(None)
        assert delayed.remove(None)
        assert peer.delayed("size") == 0
