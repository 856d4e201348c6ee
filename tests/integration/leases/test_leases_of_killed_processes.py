"""A process is killed at a named point between two commands: the place of each value then, and that none is lost."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import attrs
import pytest

from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import RedisConnectionError
from redisson_dq.scripts.script import load
from redisson_dq.wire.keys import DeadKeys
from tests.conftest import PATIENCE, by_night, environment, eventually
from tests.faults.gate import Gate, Where
from tests.flavours import Flavour
from tests.integration.conftest import KEYS
from tests.integration.whereabouts import Whereabouts, whereabouts
from tests.interop.sides import NO_PROBE

# Each case starts a process: the second server has its turn at night.
pytestmark = pytest.mark.parametrize("server", ["redis", by_night("valkey")], indirect=True)

DEAD = DeadKeys.belonging_to("orders")


@contextmanager
def stepping(url: str, call: str, first: int) -> Iterator[subprocess.Popen[str]]:
    arguments = json.dumps({"url": url, "call": call, "first": first})
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.workers.of_leases", arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment(),
        encoding="utf-8",
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "ready\n"
        yield process
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        # Its last input may not have been read.
        process.stdin.close()


def go(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()


@pytest.fixture
def gate(server: EmbeddedServer, admin: Any) -> Iterator[Gate]:
    # Else a script would come in two commands, the second of which brings its text.
    for name in ("receive", "ack", "extend", "give_back", "reject", "redrive", "purge_dead"):
        admin.script_load(load(name).source)
    with Gate(lambda: server.port or 0) as made:
        yield made


@attrs.frozen
class Step:
    """One call: the number of values in hand, and the places of the values before and after Redis carries it out."""

    first: int
    before: str
    after: str


#: r: ready, w: waiting, l: leased, d: dead; gone values are in no place. Two values, and the one in hand is the first.
STEPS = {
    "receive": Step(0, "rr", "lr"),
    "receive many": Step(0, "rr", "ll"),
    "ack": Step(1, "lr", "-r"),
    "ack_all": Step(2, "ll", "--"),
    "nack": Step(1, "lr", "rr"),
    "nack later": Step(1, "lr", "wr"),
    "hand back": Step(1, "lr", "rr"),
    "reject": Step(1, "lr", "dr"),
    "extend": Step(1, "lr", "lr"),
    "redrive": Step(0, "dd", "rr"),
    "purge_dead": Step(0, "dd", "--"),
}


def places(found: Whereabouts) -> str:
    """Where the values a and b are, in this order."""
    named = {"r": found.ready, "w": found.waiting, "l": found.leased, "d": found.dead, "A": found.arrivals}
    assert set(found.total.values()) <= {1}, "no value is in two places"
    return "".join(next((name for name, place in named.items() if place[value]), "-") for value in (b"a", b"b"))


def drain(flavour: Flavour, url: str, admin: Any, expected: set[str]) -> None:
    """Another process gets every value that is not gone, and nothing else. Then nothing is left of the leases."""
    with flavour.connect(url, codec=StringCodec(), probe_interval=NO_PROBE) as client:
        queue = client.blocking_queue("orders")
        queue.redrive()
        received: Counter[str] = Counter()
        while len(received) < len(expected):
            delivery = queue.receive(timeout=PATIENCE)
            received[delivery.value] += 1
            assert delivery.ack()
        assert received == Counter(expected)
        assert queue.receive(timeout=0) is None
        assert whereabouts(admin).total == Counter()
        assert not admin.exists(KEYS.leases, KEYS.deliveries, KEYS.histories, KEYS.history_ends)


def each_kill() -> Iterator[Any]:
    """By day each call has one place, but for the three that are called most."""
    for turn, call in enumerate(STEPS):
        for place in ("command", "sent", "reply"):
            is_by_day = place == ("command", "reply")[turn % 2]
            is_telling = place == "reply" and call in ("receive", "ack", "nack")
            yield pytest.param(call, place, marks=[] if is_by_day or is_telling else [pytest.mark.nightly])


@pytest.mark.parametrize(("call", "where"), list(each_kill()))
def test_a_kill_at_a_call(admin: Any, url: str, gate: Gate, call: str, where: Where) -> None:
    expected = STEPS[call]
    flavour = Flavour()
    if expected.before == "dd":
        with flavour.connect(url, codec=StringCodec()) as client:
            queue = client.blocking_queue("orders", transfer=False)
            queue.add_all(["a", "b"])
            queue.reject_all(queue.receive(2))
    else:
        admin.rpush(KEYS.ready, "a", "b")
    with stepping(gate.url, call, expected.first) as process:
        trap = gate.trap("EVALSHA", where, "freeze")
        go(process)
        assert trap.sprung.wait(PATIENCE)
        left = expected.before if where == "command" else expected.after
        eventually(lambda: places(whereabouts(admin)) == left)
        process.kill()
        process.wait()
        # Before the held bytes are released, or they would be sent after all.
        gate.cut()
        gate.clear()
        assert places(whereabouts(admin)).replace("w", "l") in {left.replace("w", "l"), left}
    drain(flavour, url, admin, {value for value, place in zip("ab", left, strict=True) if place != "-"})


@pytest.mark.parametrize(
    ("command", "where", "left"),
    [
        ("BLMOVE", "command", "r"),
        ("BLMOVE", "sent", "A"),
        ("BLMOVE", "reply", "l"),
        ("EVALSHA", "reply", "l"),
    ],
)
def test_a_kill_while_it_waits(admin: Any, url: str, gate: Gate, command: str, where: Where, left: str) -> None:
    """The script that leases is sent together with BLMOVE. The gate alone can part the two."""
    with stepping(gate.url, "receive", 0) as process:
        if command == "BLMOVE":
            trap = gate.trap(command, where, "freeze")
            go(process)
        else:
            go(process)
            eventually(lambda: admin.info("clients")["blocked_clients"] == 1)
            trap = gate.trap(command, where, "freeze")
        if where != "command" or command != "BLMOVE":
            eventually(lambda: admin.info("clients")["blocked_clients"] == 1)
        else:
            assert trap.sprung.wait(PATIENCE)
        admin.rpush(KEYS.ready, "a")
        assert trap.sprung.wait(PATIENCE)
        eventually(lambda: places(whereabouts(admin)) == f"{left}-")
        process.kill()
        process.wait()
        gate.cut()
        gate.clear()
    drain(Flavour(), url, admin, {"a"})


@pytest.mark.parametrize("where", ["command", "reply"])
def test_a_kill_at_a_renewal(admin: Any, url: str, gate: Gate, where: Where) -> None:
    admin.rpush(KEYS.ready, "a")
    with stepping(gate.url, "renew", 0) as process:
        go(process)
        # Until then the reply to its receive may be under way.
        assert process.stdout is not None
        assert process.stdout.readline().startswith("done")
        first = admin.zrange(KEYS.leases, 0, -1, withscores=True)
        trap = gate.trap("EVALSHA", where, "freeze")
        assert trap.sprung.wait(PATIENCE)
        if where == "reply":
            eventually(lambda: admin.zrange(KEYS.leases, 0, -1, withscores=True) > first)
        process.kill()
        process.wait()
        gate.cut()
        gate.clear()
    drain(Flavour(), url, admin, {"a"})


@pytest.mark.parametrize("where", ["command", "reply", "half"])
@pytest.mark.parametrize(
    "call", ["ack", "nack", "nack later", "hand back", "reject", "extend", "redrive", "purge_dead"]
)
def test_a_connection_that_is_cut_at_a_call(
    admin: Any, url: str, gate: Gate, flavour: Flavour, call: str, where: Where
) -> None:
    """Nothing is sent twice: the call says that it may be done, and the value is where a single call puts it."""
    expected = STEPS[call]
    admin.rpush(KEYS.ready, "a", "b")
    calls: dict[str, Callable[[Any, Any], object]] = {
        "ack": lambda queue, held: held[0].ack(),
        "nack": lambda queue, held: held[0].nack(),
        "nack later": lambda queue, held: held[0].nack(delay=0.1),
        "hand back": lambda queue, held: held[0].nack(count=False),
        "reject": lambda queue, held: held[0].reject(),
        "extend": lambda queue, held: held[0].extend(0.5),
        "redrive": lambda queue, held: queue.redrive(),
        "purge_dead": lambda queue, held: queue.purge_dead(),
    }
    with flavour.connect(gate.url, codec=StringCodec(), probe_interval=NO_PROBE) as client:
        queue = client.blocking_queue("orders", transfer=False)
        held = queue.receive(expected.before.count("l") or 2, visibility_timeout=0.5)
        if expected.before == "dd":
            queue.reject_all(held)
        gate.trap("EVALSHA", where, "cut")
        with pytest.raises(RedisConnectionError) as failed:
            calls[call](queue, held)
        assert failed.value.maybe_done
        gate.settle()
        left = expected.before if where == "command" else expected.after
        eventually(lambda: places(whereabouts(admin)) == left)
    drain(flavour, url, admin, {value for value, place in zip("ab", left, strict=True) if place != "-"})


@pytest.mark.parametrize("where", ["command", "sent", "reply", "half"])
@pytest.mark.parametrize("count", [1, 2])
def test_a_connection_that_is_cut_at_a_receive(
    admin: Any, url: str, gate: Gate, flavour: Flavour, count: int, where: Where
) -> None:
    admin.rpush(KEYS.ready, "a", "b")
    with flavour.connect(gate.url, codec=StringCodec(), probe_interval=NO_PROBE) as client:
        queue = client.blocking_queue("orders", transfer=False)
        gate.trap("EVALSHA", where, "cut", times=2)
        batch = queue.receive(count, timeout=PATIENCE)
        assert [(each.value, each.attempt, each.crashes) for each in batch] == [("a", 1, 0), ("b", 1, 0)][:count]
        assert sum(whereabouts(admin).leased.values()) == count
        assert all(queue.ack_all(batch))
    drain(flavour, url, admin, {"a", "b"} - {each.value for each in batch})
