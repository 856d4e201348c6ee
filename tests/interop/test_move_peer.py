"""``redisson-dq move`` and the users of ``redisson-dq acl`` in the place of a service of Redisson's own."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from typing import Any

import pytest
import redis

import redisson_dq
from redisson_dq import partition_names
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.sidecar import Sidecar, move_due
from redisson_dq.wire.keys import QueueKeys
from redisson_dq.wire.rights import acl_words
from tests.conftest import PATIENCE, environment, eventually
from tests.interop.conftest import OpenJava
from tests.interop.sides import Java, open_delayed
from tests.interop.test_take_due_peer import ENVELOPES, versions
from tests.peer import JavaPeer

HOUR_MS = 3_600_000


def let_the_first_fall_due(look: redis.Redis, queue: str, count: int) -> None:
    """Java moves an item that is due at once itself, as it opens the delayed queue for each offer."""
    timeout = QueueKeys.of(queue).timeout
    for member in look.zrange(timeout, 0, count - 1):
        look.execute_command("ZADD", timeout, 1, member)


@versions
def test_items_of_java_are_moved_once(
    redis7: EmbeddedServer, look: redis.Redis, java: OpenJava, queue: str, version: str
) -> None:
    """Java has the blocking queue open alone: the most frequent complaint."""
    producer = java(redis7.url, version=version)
    producer.offer_all([("due", HOUR_MS // 2), ("later", HOUR_MS)])
    let_the_first_fall_due(look, queue, 1)
    with redisson_dq.connect(redis7.url) as client:
        (row,) = move_due(client, [queue])
        assert (row.name, row.moved, row.left, row.reason) == (queue, 1, 0, None)
        assert producer.invoke("queue", "readAll") == ["due"]
        found = client.inspect(queue)
        assert (found.waiting, found.entry_kinds) == (1, (ENVELOPES[version],))
        # A look once more finds nothing.
        assert [each.moved for each in move_due(client, [f"{queue[:-1]}*"])] == [0]
    assert look.llen(queue) == 1


def test_both_envelopes_in_one_queue(
    redis7: EmbeddedServer, peers: Callable[[str], JavaPeer], queue: str, look: redis.Redis
) -> None:
    """At the envelope of the other version each Redisson stops."""
    for version in ENVELOPES:
        other = Java(peers(version), redis7.url, queue)
        other.offer(version, HOUR_MS)
        other.close()
    let_the_first_fall_due(look, queue, len(ENVELOPES))
    with redisson_dq.connect(redis7.url) as client:
        (row,) = move_due(client, [queue])
        assert (row.moved, row.left) == (len(ENVELOPES), 0)
    assert look.llen(queue) == len(ENVELOPES)


def test_a_paused_queue_is_left(redis7: EmbeddedServer, queue: str) -> None:
    with redisson_dq.connect(redis7.url) as client:
        delayed = client.delayed_queue(queue, transfer=False)
        delayed.pause()
        delayed.offer("waits", delay=0.001)
        eventually(lambda: client.inspect(queue).overdue == 1)
        (row,) = move_due(client, [queue])
        assert (row.moved, row.left, row.reason) == (0, 1, "it is paused")


def test_a_queue_in_partitions_is_one(redis7: EmbeddedServer, queue: str) -> None:
    with redisson_dq.connect(redis7.url) as client:
        whole = client.delayed_queue(queue, partitions=3, transfer=False)
        whole.offer_all([(str(number), 0.001) for number in range(9)])
        eventually(lambda: client.inspect(queue, partitions=3).overdue == 9)
        (row,) = move_due(client, [queue])
        assert (row.name, row.moved, row.left) == (queue, 9, 0)


@versions
def test_a_sidecar(redis7: EmbeddedServer, java: OpenJava, queue: str, version: str) -> None:
    consumer = java(redis7.url, version=version)
    consumer.offer("first", HOUR_MS)
    taking = consumer.submit("take")
    words = ["move", f"{queue[:-1]}*", "--follow", "--health-port", "0", "--health-host", "127.0.0.1"]
    command = [sys.executable, "-u", "-m", "redisson_dq", *words, "--url", redis7.url]
    process = subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, encoding="utf-8")
    try:
        assert process.stdout is not None
        port = re.fullmatch(r"health at port (\d+)\n", process.stdout.readline())
        assert port is not None
        assert process.stdout.readline() == f"moving {queue}\n"
        assert _health(port[1], "live")[0] == 200
        eventually(lambda: _health(port[1], "ready")[0] == 200)
        consumer.offer("second", 20)
        assert taking.result(PATIENCE) == "second"
        status, told = _health(port[1], "health")
        assert (status, told["queues"][queue]["overdue"]) == (200, 0)
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0
    finally:
        process.kill()
        process.wait()
        process.stdout.close()  # type: ignore[union-attr]


def _health(port: str, path: str) -> tuple[int, Any]:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/{path}", timeout=PATIENCE) as answer:
            return answer.status, json.loads(answer.read())
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.loads(error.read())


def test_queues_that_come_later_are_moved(redis7: EmbeddedServer, look: redis.Redis, queue: str) -> None:
    with redisson_dq.connect(redis7.url) as ours, redisson_dq.connect(redis7.url) as others:
        sidecar = Sidecar(ours, [f"{queue}-*"])
        assert sidecar.look() == []
        others.delayed_queue(f"{queue}-late", transfer=False).offer("a", delay=0.001)
        assert sidecar.look() == [f"{queue}-late"]
        assert sidecar.look() == []
        eventually(lambda: look.llen(f"{queue}-late") == 1)


def test_partitions_are_moved_before_they_have_keys(redis7: EmbeddedServer, look: redis.Redis, queue: str) -> None:
    names = partition_names(queue, 3)
    with redisson_dq.connect(redis7.url) as ours, redisson_dq.connect(redis7.url) as others:
        sidecar = Sidecar(ours, [queue], partitions=3)
        assert sorted(sidecar.look()) == names
        others.delayed_queue(queue, partitions=3, transfer=False).offer_all(
            [(str(number), 0.001) for number in range(9)]
        )
        eventually(lambda: [look.llen(name) for name in names] == [3, 3, 3])
        assert sidecar.look() == []


@versions
@pytest.mark.parametrize("role", ["producer", "consumer", "worker"])
def test_a_redisson_with_the_rights_of_a_role(
    redis7: EmbeddedServer, look: redis.Redis, java: OpenJava, queue: str, version: str, role: str
) -> None:
    words = acl_words(role, [queue], version=(7, 0))
    look.execute_command("ACL", "SETUSER", "service", "reset", "on", ">secret", *words)
    look.execute_command("ACL", "LOG", "RESET")
    try:
        service = java(redis7.url.replace("//", "//service:secret@"), version=version)
        if role == "producer":
            open_delayed(service, look)
            service.offer("a", 20)
            eventually(lambda: look.llen(queue) == 1)
        else:
            other = java(redis7.url, version=version)
            taking = service.submit("take")
            open_delayed(service, look)
            other.offer("a", 20)
            assert taking.result(PATIENCE) == "a"
        rows: Any = look.execute_command("ACL", "LOG")
        # Redisson 4 tries a key of its own at its start, and goes on without it.
        assert [row for row in rows if row[b"object"] != b"test1"] == []
        service.close()
    finally:
        look.execute_command("ACL", "DELUSER", "service")
