"""A sidecar while Redis is away, stands still or refuses, and one that is ended in the middle of a transfer."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

import pytest
import redis

import redisson_dq
from redisson_dq.cli import main
from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.sidecar import move_due
from redisson_dq.testing.faults import Faults
from tests.conftest import PATIENCE, environment, eventually
from tests.faults.gate import Gate, Where


@pytest.fixture
def look(own_server: EmbeddedServer) -> Iterator[redis.Redis]:
    with redis.Redis.from_url(own_server.url) as made:
        yield made


class _Sidecar:
    """The command as a process: what it says, and the answers of its port."""

    def __init__(self, url: str) -> None:
        command = [sys.executable, "-m", "redisson_dq", "move", "orders", "--follow", "--url", url]
        command += ["--health-port", "0", "--health-host", "127.0.0.1", "--timeout", "1"]
        self.process = subprocess.Popen(
            command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        self.told: list[str] = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        eventually(lambda: "moving orders" in "".join(self.told), within=PATIENCE, told=lambda: self.told)
        (self.port,) = re.findall(r"health at port (\d+)", "".join(self.told))

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.told.append(line)

    def answer(self, path: str = "/ready") -> tuple[int, Any]:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=PATIENCE) as reply:
                return reply.status, json.loads(reply.read())
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.loads(error.read())

    def becomes(self, status: int) -> None:
        eventually(lambda: self.answer()[0] == status, within=PATIENCE, told=lambda: (self.answer(), self.told))
        assert self.answer("/health")[0] == status
        assert self.answer("/live") == (200, {})

    def ended(self, by: signal.Signals) -> int:
        self.process.send_signal(by)
        return self.process.wait(PATIENCE)


@contextmanager
def _beside(url: str) -> Iterator[_Sidecar]:
    sidecar = _Sidecar(url)
    try:
        yield sidecar
    finally:
        sidecar.process.kill()
        sidecar.process.wait(PATIENCE)
        sidecar._reader.join(PATIENCE)
        assert sidecar.process.stdout is not None
        sidecar.process.stdout.close()


def _offer(url: str, name: str) -> set[str]:
    values = {f"{name} {number}" for number in range(150)}
    with redisson_dq.connect(url, codec=StringCodec()) as client:
        client.delayed_queue("orders", transfer=False).offer_all([(value, 0.1) for value in values])
    return values


def _ready(admin: redis.Redis) -> list[str]:
    return [value.decode() for value in cast("list[bytes]", admin.lrange("orders", 0, -1))]


def test_the_port_tells_the_truth_while_redis_is_away_and_when_it_is_back(
    own_server: EmbeddedServer, look: redis.Redis
) -> None:
    """And a SIGTERM in the middle of a transfer whose reply is lost ends it well, with each item moved once."""
    with Gate(lambda: own_server.port or 0) as gate, _beside(gate.url) as sidecar:
        sidecar.becomes(200)
        gate.refusing = True
        gate.cut()
        wanted = _offer(own_server.url, "away")
        sidecar.becomes(503)
        gate.refusing = False
        sidecar.becomes(200)
        eventually(lambda: len(_ready(look)) == len(wanted), within=PATIENCE)
        trap = gate.trap("transfer", "reply", "freeze")
        wanted |= _offer(own_server.url, "last")
        assert trap.sprung.wait(PATIENCE)
        assert sidecar.ended(signal.SIGTERM) == 0, sidecar.told
    assert main(["move", "orders", "--url", own_server.url]) == 0
    assert sorted(_ready(look)) == sorted(wanted)


def test_what_moved_is_counted_though_its_reply_comes_late(own_server: EmbeddedServer) -> None:
    """Redis shows that nothing is due any more while the client waits for the reply."""
    with Gate(lambda: own_server.port or 0) as gate, redisson_dq.connect(gate.url) as client:
        _offer(own_server.url, "value")
        eventually(lambda: client.inspect("orders").overdue == 150)
        trap = gate.trap("transfer", "reply", "delay", seconds=0.5, times=2)
        (row,) = move_due(client, ["orders"])
        assert trap.count
        assert (row.moved, row.left, row.reason) == (150, 0, None)


@pytest.mark.nightly
@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("where", ["command", "sent", "reply"])
def test_a_signal_in_the_middle_of_a_transfer(
    own_server: EmbeddedServer, look: redis.Redis, by: signal.Signals, where: Where
) -> None:
    with Gate(lambda: own_server.port or 0) as gate, _beside(gate.url) as sidecar:
        sidecar.becomes(200)
        trap = gate.trap("transfer", where, "freeze")
        wanted = _offer(own_server.url, "value")
        assert trap.sprung.wait(PATIENCE)
        assert sidecar.ended(by) == 0, sidecar.told
    assert main(["move", "orders", "--url", own_server.url]) == 0
    assert sorted(_ready(look)) == sorted(wanted)


@pytest.mark.nightly
def test_connections_that_stand_still_and_a_redis_that_refuses(own_server: EmbeddedServer, look: redis.Redis) -> None:
    with Faults(own_server) as faults, _beside(faults.url) as sidecar:
        sidecar.becomes(200)
        with faults.frozen():
            wanted = _offer(own_server.url, "frozen")
            sidecar.becomes(503)
        sidecar.becomes(200)
        with faults.refused("*", "LOADING Redis is loading the dataset in memory"):
            sidecar.becomes(503)
        sidecar.becomes(200)
        faults.silence()
        wanted |= _offer(own_server.url, "silent")
        eventually(lambda: len(_ready(look)) == len(wanted), within=4 * PATIENCE)
        sidecar.becomes(200)
        assert sidecar.ended(signal.SIGTERM) == 0, sidecar.told
    assert sorted(_ready(look)) == sorted(wanted)


@pytest.mark.nightly
def test_two_sidecars_of_which_one_is_killed(own_server: EmbeddedServer, look: redis.Redis) -> None:
    """Both are well, each item is moved once, and the other one steps in."""
    with _beside(own_server.url) as one, _beside(own_server.url) as other:
        one.becomes(200)
        other.becomes(200)
        wanted = _offer(own_server.url, "both")
        eventually(lambda: len(_ready(look)) == len(wanted), within=PATIENCE)
        one.process.kill()
        wanted |= _offer(own_server.url, "one")
        eventually(lambda: len(_ready(look)) == len(wanted), within=PATIENCE)
        other.becomes(200)
        assert other.ended(signal.SIGINT) == 0, other.told
    assert sorted(_ready(look)) == sorted(wanted)


@pytest.mark.nightly
def test_a_sidecar_that_starts_and_ends_while_redis_is_away(own_server: EmbeddedServer) -> None:
    with Gate(lambda: own_server.port or 0) as gate:
        gate.refusing = True
        with _beside(gate.url) as sidecar:
            sidecar.becomes(503)
            assert sidecar.ended(signal.SIGTERM) == 0, sidecar.told
