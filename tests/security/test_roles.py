"""The users of ``redisson-dq acl``: each role does all its calls, and is refused everything else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import redis

import redisson_dq
from redisson_dq.browsing import browse
from redisson_dq.cli._main import main
from redisson_dq.codecs import StringCodec
from redisson_dq.doctor import Status, diagnose
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.sidecar import move_due
from redisson_dq.wire.keys import QueueKeys
from redisson_dq.wire.rights import ROLES, acl_words
from redisson_dq.worker import Worker
from tests.conftest import PATIENCE, emptied, eventually, moving
from tests.workers.handlers import Ledger, running

HOUR = 3600.0
KEYS = QueueKeys.of("orders")


@pytest.fixture
def admin(servers: Callable[[str], EmbeddedServer]) -> Iterator[redis.Redis]:
    with redis.Redis.from_url(emptied(servers("redis")).url) as made:
        yield made


@pytest.fixture
def url(servers: Callable[[str], EmbeddedServer], admin: redis.Redis, role: str) -> Iterator[str]:
    """The URL of a user that has the role alone."""
    words = acl_words(role, ["orders"], version=(7, 0))
    admin.execute_command("ACL", "SETUSER", role, "reset", "on", ">secret", *words)
    admin.execute_command("ACL", "LOG", "RESET")
    yield servers("redis").url.replace("//", f"//{role}:secret@")
    admin.execute_command("ACL", "DELUSER", role)


@pytest.fixture
def root(servers: Callable[[str], EmbeddedServer], admin: redis.Redis) -> Iterator[Any]:
    with redisson_dq.connect(servers("redis").url, codec=StringCodec()) as made:
        yield made


def refused(admin: redis.Redis) -> list[Any]:
    """The refused commands, except the library's name, which Redis before 7.2 does not know."""
    rows: Any = admin.execute_command("ACL", "LOG")
    return list(rows)


def produce(url: str, root: Any, file: Path) -> None:
    with redisson_dq.connect(url, codec=StringCodec()) as client:
        delayed = moving(client.delayed_queue("orders"))
        delayed.offer("a", delay=0.01)
        delayed.offer_all([("b", HOUR), ("c", HOUR)])
        item = delayed.offer("d", delay=HOUR, id="d", expires=HOUR, deduplicate_for=None)
        item.reschedule(delay=2 * HOUR)
        assert item.cancel() == redisson_dq.Outcome.CANCELLED
        delayed.offer_recurring("e", "daily", every=HOUR)
        delayed.cancel_recurring("daily")
        client.blocking_queue("orders", transfer=False).add("f")
        eventually(lambda: root.blocking_queue("orders", transfer=False).size() == 2)


def consume(url: str, root: Any, file: Path) -> None:
    root.delayed_queue("orders", transfer=False).offer_all([(str(number), 0.05) for number in range(5)])
    with redisson_dq.connect(url, codec=StringCodec()) as client:
        queue = client.blocking_queue("orders")
        assert queue.take() == "0"
        assert queue.poll() == "1"
        delivery = queue.receive(timeout=PATIENCE)
        assert delivery is not None
        assert delivery.extend(60) == redisson_dq.SettleOutcome.EXTENDED
        delivery.ack()
        other = queue.receive(timeout=PATIENCE)
        assert other is not None
        other.nack(delay=0.01)
        third = queue.receive(timeout=PATIENCE)
        assert third is not None
        third.reject("bad")
        assert queue.poll(timeout=PATIENCE) is not None
        assert queue.poll(timeout=0.05) is None


def work(url: str, root: Any, file: Path) -> None:
    ledger, worker = Ledger(), Worker.connect(url, codec=StringCodec())
    worker.handler("orders", concurrency=2)(ledger.handle)
    root.delayed_queue("orders", transfer=False).offer_all([("a", 0.01), ("b", 0.02)])
    with running(worker):
        assert {ledger.next(), ledger.next()} == {"a", "b"}


def move(url: str, root: Any, file: Path) -> None:
    root.delayed_queue("orders", transfer=False).offer_all([("a", 0.001), ("b", HOUR)])
    eventually(lambda: root.inspect("orders").overdue == 1)
    with redisson_dq.connect(url) as client:
        (row,) = move_due(client, ["orders"])
    assert (row.moved, row.left) == (1, 0)


def observe(url: str, root: Any, file: Path) -> None:
    moving(root.delayed_queue("orders")).offer("a", delay=HOUR)
    eventually(lambda: root.inspect("orders").subscribers == 1)
    with redisson_dq.connect(url, codec=StringCodec()) as client:
        assert client.stats("orders")["orders"].waiting == 1
        assert client.inspect("orders").waiting == 1
        assert list(client.queue_names()) == ["orders"]
        queue = client.delayed_queue("orders", transfer=False)
        assert [item.value for item in queue.items()] == ["a"]
        assert [row.state for row in browse(client, "orders").rows] == ["waiting"]
        report = diagnose(client)
        assert {each.check: each.reason for each in report.results if each.status is Status.UNKNOWN} == {}
        # A busy machine makes scripts slow, too.
        assert {each.check for each in report.findings} - {"slow-scripts"} == {"persistence"}


def operate(url: str, root: Any, file: Path) -> None:
    waiting = root.delayed_queue("orders", transfer=False)
    waiting.offer_all([("a", HOUR), ("b", 0.001)])
    with redisson_dq.connect(url, codec=StringCodec()) as client:
        delayed = client.delayed_queue("orders", transfer=False)
        assert delayed.pause()
        assert delayed.resume()
        eventually(lambda: root.inspect("orders").overdue == 1)
        (row,) = move_due(client, ["orders"])
        assert row.moved == 1
        for item in delayed.items():
            item.cancel()
        root.blocking_queue("orders").receive(timeout=PATIENCE).reject("bad")
        dead = client.blocking_queue("orders", transfer=False)
        assert len(dead.dead_letters()) == 1
        assert dead.redrive().count == 1
        assert dead.size() == 1
        # The commands that act on many items at once.
        delayed.offer_all([("c", HOUR), ("d", HOUR)])
        words = ["orders", "--all", "--yes", "--url", url, "--undo-file", str(file)]
        assert main(["cancel", *words]) == 0
        assert delayed.size() == 0
        assert main(["undo", str(file), "--yes", "--url", url]) == 0
        assert delayed.size() == 2
        held = root.blocking_queue("orders")
        assert held.receive(timeout=PATIENCE) is not None
        assert main(["release", "orders", "--all", "--yes", "--no-undo", "--url", url]) == 0
        held.receive(timeout=PATIENCE).reject("bad")
        assert main(["dead", "redrive", "orders", "--all", "--yes", "--no-undo", "--url", url]) == 0
        assert dead.size() == 1


CALLS = {
    "producer": produce,
    "consumer": consume,
    "worker": work,
    "mover": move,
    "observer": observe,
    "operator": operate,
}


@pytest.mark.parametrize("role", ROLES)
def test_a_role_does_all_its_calls(admin: redis.Redis, root: Any, url: str, role: str, tmp_path: Path) -> None:
    thread = ThreadPoolExecutor(1)
    try:
        thread.submit(CALLS[role], url, root, tmp_path / "undo").result(PATIENCE)
    finally:
        thread.shutdown(wait=False)
    assert refused(admin) == []


_FOR_NOBODY: list[tuple[str, ...]] = [
    ("FLUSHALL",),
    ("KEYS", "*"),
    ("CONFIG", "GET", "requirepass"),
    ("ACL", "LIST"),
    ("SHUTDOWN",),
    ("RPUSH", "bills", "x"),
    ("LRANGE", "bills", "0", "-1"),
    ("ZRANGE", "redisson_delay_queue_timeout:{bills}", "0", "-1"),
    ("ZRANGE", "redisson_delay_queue_timeout:{orders2}", "0", "-1"),
    ("SUBSCRIBE", "redisson_delay_queue_channel:{bills}"),
    ("EVAL", "return redis.call('LLEN', KEYS[1])", "1", "bills"),
]
_TAKING: list[tuple[str, ...]] = [
    ("BLPOP", "orders", "1"),
    ("BRPOP", "orders", "1"),
    ("BLMOVE", "orders", KEYS.arrivals, "LEFT", "LEFT", "1"),
    ("RPOP", "orders"),
]
_WRITING: list[tuple[str, ...]] = [
    ("RPUSH", "orders", "x"),
    ("ZADD", KEYS.timeout, "1", "x"),
    ("DEL", "orders"),
    ("HSET", KEYS.settings, "paused", "1"),
    ("EVAL", "return redis.call('RPUSH', KEYS[1], 'x')", "1", "orders"),
    ("PUBLISH", KEYS.channel, "0"),
]


@pytest.mark.parametrize("role", ROLES)
def test_a_role_is_refused_everything_else(admin: redis.Redis, url: str, role: str) -> None:
    wanted = [*_FOR_NOBODY]
    if role in ("producer", "mover", "observer"):
        wanted += _TAKING
    if role == "observer":
        wanted += _WRITING
    with redis.Redis.from_url(url) as user:
        for words in wanted:
            with pytest.raises(
                redis.exceptions.ResponseError, match=r"NOPERM|No permissions|permission|ACL failure|can't run this"
            ):
                user.execute_command(*words)
