"""Calls of any method of Redisson's queues through the peer, and its list of these methods."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime, timezone
from typing import Any

import pytest

from redisson_dq.embedded import EmbeddedServer
from tests.conftest import PATIENCE
from tests.interop.conftest import NEWEST_BY_DAY, OpenJava
from tests.interop.java_args import (
    bytes_,
    collect,
    deque_move,
    duration,
    instant,
    int_,
    long,
    string,
    strings,
    unit,
    values,
)
from tests.interop.sides import Java
from tests.peer import VERSIONS, JavaPeer, PeerError, vectors
from tests.vector_files import FOLDER
from tests.versions import NEWEST

METHODS = FOLDER / f"methods-{NEWEST}.jsonl"


@pytest.fixture(params=NEWEST_BY_DAY)
def each(request: pytest.FixtureRequest, java: OpenJava, redis7: EmbeddedServer) -> Java:
    """A client of every Redisson."""
    return java(redis7.url, version=request.param)


@pytest.fixture
def current(java: OpenJava, redis7: EmbeddedServer) -> Java:
    return java(redis7.url)


def test_a_queue(each: Java, queue: str) -> None:
    assert each.invoke("queue", "offer", "a") is True
    assert each.invoke("queue", "add", [1, [2]]) is True
    assert each.invoke("queue", "addAll", values([5, "b", 2**40])) is True

    assert each.invoke("queue", "peek") == "a"
    assert each.invoke("queue", "size") == 5
    assert each.invoke("queue", "getName") == queue
    assert each.invoke("queue", "poll") == "a"
    assert each.invoke("queue", "poll", int_(1)) == [[1, [2]]]
    assert each.invoke("queue", "remove", 5) is True
    assert each.invoke("queue", "containsAll", values(["b", 5])) is False
    for method in ("readAll", "iterator", "stream", "toArray"):
        assert each.invoke("queue", method) == ["b", 2**40]
    assert each.invoke("queue", "clear") is None
    assert each.invoke("queue", "poll") is None


def test_what_every_object_has(each: Java, queue: str) -> None:
    due = datetime(2100, 1, 1, tzinfo=timezone.utc)
    each.invoke("queue", "add", "a")

    assert each.invoke("queue", "remainTimeToLive") == -1
    assert each.invoke("queue", "expire", instant(due)) is True
    assert each.invoke("queue", "getExpireTime") == due.timestamp() * 1000
    assert each.invoke("queue", "expireAt", instant(due)) is True
    assert each.invoke("queue", "expire", long(-1), unit("SECONDS")) is True
    assert each.invoke("queue", "isExists") is False
    each.invoke("queue", "add", "b")
    state = each.invoke("queue", "dump")
    each.invoke("queue", "delete")
    assert each.invoke("queue", "restore", bytes_(state)) is None
    assert each.invoke("queue", "renamenx", string(queue)) is False
    assert each.invoke("queue", "readAll") == ["b"]


def test_a_deque(each: Java, queue: str) -> None:
    other = f"{queue}-other"
    assert each.invoke("deque", "addLast", "b") is None
    assert each.invoke("deque", "addFirst", values(["a", "z"])) == 3
    assert each.invoke("deque", "descendingIterator") == ["b", "a", "z"]
    assert each.invoke("deque", "move", deque_move("last", "first", other)) == "b"
    assert each.invoke("deque", "pollLastAndOfferFirstTo", string(other)) == "a"
    assert each.invoke("deque", "pollFirst", int_(5)) == ["z"]
    assert each.invoke("deque", "pollFirst") is None
    with pytest.raises(PeerError, match=r"^java\.util\.NoSuchElementException"):
        each.invoke("deque", "getFirst")


def test_a_blocking_queue(each: Java, queue: str) -> None:
    each.invoke("blocking_queue", "addAll", values([1, 2, 3, 4]))

    assert each.invoke("blocking_queue", "pollFromAny", long(1), unit("SECONDS"), strings("none", queue)) == 1
    assert each.invoke("blocking_queue", "pollLastFromAny", duration(1.0), int_(2), strings()) == {queue: [4, 3]}
    assert each.invoke("blocking_queue", "drainTo", collect(), int_(5)) == [1, [2]]
    assert each.invoke("blocking_queue", "drainTo", collect()) == [0, []]

    waiting = each.invoking("blocking_queue", "takeLastAndOfferFirstTo", string(f"{queue}-other"))
    each.invoke("blocking_queue", "put", "late")
    assert waiting.result(PATIENCE) == "late"


def test_a_blocking_deque(each: Java, queue: str) -> None:
    other = f"{queue}-other"
    each.invoke("blocking_deque", "putFirst", "b")
    each.invoke("blocking_deque", "putFirst", "a")

    assert each.invoke("blocking_deque", "takeLast") == "b"
    assert each.invoke("blocking_deque", "move", duration(1.0), deque_move("first", "last", other)) == "a"
    assert each.invoke("blocking_deque", "pollFirst", long(1), unit("SECONDS")) is None


def test_a_bounded_queue(each: Java) -> None:
    each.invoke("bounded", "trySetCapacity", int_(1))
    assert each.invoke("bounded", "offer", "a") is True
    assert each.invoke("bounded", "offer", "b") is False
    assert each.invoke("bounded", "remainingCapacity") == 0
    with pytest.raises(
        PeerError, match=r"RedisException: .*; caused by java\.lang\.IllegalStateException: Queue is full"
    ):
        each.invoke("bounded", "add", "b")


def test_a_delayed_queue(each: Java) -> None:
    for value in ("a", "b", "c"):
        assert each.invoke("delayed", "offer", value, long(60), unit("SECONDS")) is None

    assert each.invoke("delayed", "readAll") == ["a", "b", "c"]
    assert each.invoke("delayed", "removeAll", values(["c"])) is True
    assert each.invoke("delayed", "poll", int_(1)) == ["a"]
    assert each.invoke("delayed", "peek") == "b"
    with pytest.raises(PeerError, match=r"^java\.lang\.IllegalArgumentException: Delay can't be negative$"):
        each.invoke("delayed", "offer", "d", long(-1), unit("SECONDS"))
    with pytest.raises(PeerError, match=r"^java\.lang\.UnsupportedOperationException: Use 'offer' method"):
        each.invoke("delayed", "add", "d")


def test_a_delayed_queue_that_is_open_is_the_one_called(current: Java) -> None:
    assert current.call("open_delayed")
    current.invoke("delayed", "offer", "due", long(1), unit("MILLISECONDS"))
    assert current.invoke("blocking_queue", "poll", long(30), unit("SECONDS")) == "due"
    assert current.invoke("delayed", "isEmpty") is True


@pytest.mark.parametrize("kind", ["blocking_queue", "delayed"])
def test_an_iterator_removes(each: Java, kind: str) -> None:
    for value in ("a", "b", "c"):
        offer = (value, long(60), unit("SECONDS")) if kind == "delayed" else (value,)
        each.invoke(kind, "offer", *offer)

    assert each.call("iterator_remove", kind=kind, index=1) == "b"

    assert each.invoke(kind, "iterator") == ["a", "c"]
    with pytest.raises(PeerError, match="NoSuchElementException"):
        each.call("iterator_remove", kind=kind, index=2)


def test_a_method_is_chosen_by_what_its_arguments_are(current: Java) -> None:
    current.invoke("queue", "addAll", values([1, 2, 3]))
    assert current.invoke("queue", "remove", 2) is True
    assert current.invoke("queue", "remove") == 1
    with pytest.raises(PeerError, match=r"NoSuchMethodException: RQueue\.poll\(value\)"):
        current.invoke("queue", "poll", 1)
    with pytest.raises(PeerError, match=r"NoSuchMethodException: RDelayedQueue\.take\(\)"):
        current.invoke("delayed", "take")


def test_a_map_with_any_keys_is_a_value(current: Java) -> None:
    current.invoke("queue", "add", {"arg": "int", "v": 5})
    assert current.invoke("queue", "poll") == {"arg": "int", "v": 5}


@pytest.mark.parametrize("version", NEWEST_BY_DAY[:2])
def test_an_entry_is_the_queue_and_the_value(version: str, java: OpenJava, redis7: EmbeddedServer, queue: str) -> None:
    client = java(redis7.url, version=version)
    client.invoke("queue", "add", 2**40)
    found = client.invoke("blocking_queue", "pollFromAnyWithName", duration(1.0), strings("none"))
    assert found == [queue, 2**40]


@pytest.fixture
def rows(peers: Callable[[str], JavaPeer]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = peers(VERSIONS[0]).call("methods")
    return found


def test_the_methods_are_what_this_redisson_has(rows: list[dict[str, Any]]) -> None:
    committed = [json.loads(line) for line in METHODS.read_text("utf-8").splitlines()]
    printed = [json.loads(line) for line in vectors("methods", NEWEST).splitlines()]
    assert committed[0].keys() == {"regenerate"}
    assert printed == rows
    # Java 21 gave every Deque a method more.
    assert [row for row in rows if row["method"] != "reversed"] == committed[1:]


def test_every_method_has_one_row(rows: list[dict[str, Any]]) -> None:
    keys = {(row["interface"], row["method"], *row["parameters"]) for row in rows}
    assert len(keys) == len(rows)
    names = {row["method"] for row in rows}
    assert {"offer", "pollFromAnyWithName", "trySetCapacity", "destroy", "renamenx", "drainTo"} <= names
    assert names.isdisjoint({"equals", "hashCode", "wait", "getClass", "offerAsync", "pollAsync"})
    assert {
        "interface": "RDelayedQueue",
        "method": "poll",
        "parameters": ["int"],
        "returns": "java.util.List",
        "declaredIn": "RQueue",
        "deprecated": False,
    } in rows
