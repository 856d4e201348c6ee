"""Values of a caller that is gone are put back, and the connection breaks meanwhile. Each value is in the queue
once."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import redis

from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.scripts.script import load
from redisson_dq.wire.blocking import Pop, PutBack
from redisson_dq.wire.keys import QueueKeys
from tests.conftest import eventually
from tests.faults.gate import Gate, Where
from tests.flavours import Flavour

# The kind of wait, its blocking command, and the place to which the value returns.
CALLS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "plain": (lambda client: client.blocking_queue("orders", transfer=False).poll(timeout=0.05), "BLPOP"),
    "batch": (lambda client: client.blocking_queue("orders", transfer=False).poll(9, timeout=0.05), "BLPOP"),
    "last": (lambda client: client.blocking_deque("orders", transfer=False).poll_last(timeout=0.05), "BRPOP"),
    "any": (
        lambda client: client.blocking_queue("bills", transfer=False).poll_from_any("orders", timeout=0.05),
        "BLPOP",
    ),
    "bounded": (lambda client: client.bounded_blocking_queue("orders", transfer=False).poll(timeout=0.05), "BLPOP"),
    "untagged": (lambda client: client.blocking_queue("or}ders", transfer=False).poll(timeout=0.05), "BLPOP"),
}


@pytest.fixture
def gate(server: EmbeddedServer) -> Iterator[Gate]:
    port = server.port
    assert port is not None
    with Gate(lambda: port) as gate:
        yield gate


def popped_for_nobody(gate: Gate, admin: redis.Redis, client: Any, call: str) -> None:
    """The value is popped in time, and its reply comes when the caller has gone."""
    take, command = CALLS[call]
    # Otherwise the first try is refused, and does nothing.
    admin.script_load(load("put_back").source)
    key = "or}ders" if call == "untagged" else "orders"
    if call == "bounded":
        client.bounded_blocking_queue("orders", transfer=False).try_set_capacity(10)
        admin.decr(QueueKeys.of("orders").capacity)
    # The pop of a ready value answers at once, and the gate holds the answer.
    trap = gate.trap(command, "reply", "freeze")
    admin.rpush(key, "v1")

    def tried() -> bool:
        assert not take(client)
        # On a busy machine the caller may have gone before it was connected.
        return trap.sprung.wait(1)

    eventually(tried)
    assert not admin.exists(key)


@pytest.mark.parametrize(
    ("call", "where", "times"),
    [
        *(("plain", where, 1) for where in ("command", "sent", "reply", "half")),
        ("plain", "reply", 3),
        *((call, "reply", 1) for call in ("batch", "last", "any", "bounded")),
    ],
)
def test_it_is_back_once(
    flavour: Flavour,
    admin: redis.Redis,
    gate: Gate,
    caplog: pytest.LogCaptureFixture,
    call: str,
    where: Where,
    times: int,
) -> None:
    with caplog.at_level(logging.ERROR, "redisson_dq"), flavour.connect(gate.url, codec=StringCodec()) as client:
        popped_for_nobody(gate, admin, client, call)
        trap = gate.trap("put_back.lua", where, "cut", times=times)
        gate.thaw()
        assert trap.sprung.wait(20)
        eventually(lambda: admin.lrange("orders", 0, -1) == [b"v1"])
        # Commands that are sent again arrive before the next value is taken.
        assert client.blocking_queue("orders", transfer=False).take() == "v1"
    assert not admin.exists("orders")
    assert not caplog.records
    if call == "bounded":
        assert int(admin.get(QueueKeys.of("orders").capacity) or 0) == 9


@pytest.mark.parametrize("where", ["command", "sent", "reply"])
def test_it_is_back_when_the_client_is_closed_meanwhile(
    flavour: Flavour, admin: redis.Redis, gate: Gate, caplog: pytest.LogCaptureFixture, where: Where
) -> None:
    with caplog.at_level(logging.ERROR, "redisson_dq"):
        with flavour.connect(gate.url, codec=StringCodec()) as client:
            popped_for_nobody(gate, admin, client, "plain")
            gate.trap("put_back.lua", where, "cut", times=2)
            gate.thaw()
        eventually(lambda: admin.lrange("orders", 0, -1) == [b"v1"])
    assert not caplog.records


def test_it_is_back_after_a_defect(
    flavour: Flavour,
    admin: redis.Redis,
    gate: Gate,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    usual, defects = Pop.put_back, [RuntimeError("a defect")]

    def put_back(source: Pop, *arguments: Any) -> list[PutBack]:
        if arguments[0] and defects:
            raise defects.pop()
        return usual(source, *arguments)

    monkeypatch.setattr(Pop, "put_back", put_back)
    with flavour.connect(gate.url, codec=StringCodec()) as client:
        popped_for_nobody(gate, admin, client, "plain")
        gate.thaw()
        eventually(lambda: admin.lrange("orders", 0, -1) == [b"v1"])
    assert not defects
    assert "unexpected error while putting 1 popped values back" in caplog.text


def test_a_value_that_a_defect_keeps_from_going_back_is_in_the_log(
    flavour: Flavour,
    admin: redis.Redis,
    gate: Gate,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def put_back(source: Pop, surplus: Any, *arguments: Any) -> list[PutBack]:
        if surplus:
            raise RuntimeError("a defect")
        return []

    monkeypatch.setattr(Pop, "put_back", put_back)
    with flavour.connect(gate.url, codec=StringCodec()) as client:
        popped_for_nobody(gate, admin, client, "plain")
        gate.thaw()
    eventually(lambda: "may not be back in Redis: a defect; they are [b'v1']" in caplog.text)


@pytest.mark.parametrize(("where", "times"), [("command", 1), ("sent", 1), ("reply", 1), ("reply", 3)])
def test_room_is_made_once(flavour: Flavour, admin: redis.Redis, gate: Gate, where: Where, times: int) -> None:
    admin.script_load(load("release").source)
    with flavour.connect(gate.url, codec=StringCodec()) as client:
        queue = client.bounded_blocking_queue("orders", transfer=False)
        queue.try_set_capacity(2)
        for values in (["a", "b"], ["c", "d"]):
            assert queue.add_all(values)
            trap = gate.trap("release.lua", where, "cut", times=times)
            assert queue.take() == values[0]
            assert trap.sprung.wait(20)
            assert queue.take() == values[1]
        eventually(lambda: queue.remaining_capacity() == 2)
        assert admin.zcard(QueueKeys.of("orders").returned) == 1


def test_two_values_for_nobody_leave_one_note(flavour: Flavour, admin: redis.Redis, gate: Gate) -> None:
    with flavour.connect(gate.url, codec=StringCodec()) as client:
        for _ in range(3):
            popped_for_nobody(gate, admin, client, "plain")
            gate.thaw()
            eventually(lambda: admin.lrange("orders", 0, -1) == [b"v1"])
            assert client.blocking_queue("orders", transfer=False).poll() == "v1"
        notes = QueueKeys.of("orders").returned
        assert admin.zcard(notes) == 1
        assert admin.pttl(notes) == -1


def test_a_name_whose_keys_share_no_slot(flavour: Flavour, admin: redis.Redis, gate: Gate) -> None:
    with flavour.connect(gate.url, codec=StringCodec()) as client:
        popped_for_nobody(gate, admin, client, "untagged")
        gate.thaw()
        eventually(lambda: admin.lrange("or}ders", 0, -1) == [b"v1"])
    assert admin.keys() == [b"or}ders"]
