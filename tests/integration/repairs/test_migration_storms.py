"""Migrations and actions while a server fails: lost replies, no memory, a failover, a slot that moves."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
import redis

import redisson_dq
from redisson_dq.cli import main
from redisson_dq.codecs import StringCodec
from redisson_dq.durability import Durability
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import DurabilityError, RedisConnectionError, RedissonDQError
from redisson_dq.migrating import Journal, Migrated, Migration, QueueSite, Recoding
from tests.cluster import Cluster
from tests.conftest import PATIENCE, PROGRAMS, emptied, environment, eventually
from tests.faults.gate import Gate, Where
from tests.integration.servers.test_topologies import Watched

READY = [f"ready {number}" for number in range(450)]
WAITING = [f"value {number}" for number in range(650)]
WHOLE = {"ready": len(READY), "waiting": len(WAITING)}


@pytest.fixture
def one(servers: Callable[[str], EmbeddedServer]) -> EmbeddedServer:
    return emptied(servers("redis"))


def filled(url: str) -> None:
    with redisson_dq.connect(url, codec=StringCodec()) as client:
        client.delayed_queue("orders", transfer=False).offer_all([(value, 3600) for value in WAITING])
        client.blocking_queue("orders", transfer=False).add_all(READY)


def found(url: str, name: str) -> tuple[list[str], list[str]]:
    """What is ready and what waits, in their orders."""
    with redisson_dq.connect(url, codec=StringCodec()) as client:
        ready = client.blocking_queue(name, transfer=False).read_all()
        return ready, client.delayed_queue(name, transfer=False).read_all()


def migrated(
    source: str,
    target: str,
    folder: Path,
    at: tuple[str, int] = ("", 0),
    storm: Callable[[], None] = lambda: None,
    patience: int = 60,
) -> Migrated:
    """Moves orders to bills. The storm comes once, at a state of a batch."""
    storms = [storm]

    def reached(state: str, number: int) -> None:
        if (state, number) == at and storms:
            storms.pop()()

    path = folder / "journal"
    with (
        redisson_dq.connect(source, codec=StringCodec()) as client,
        redisson_dq.connect(target, codec=StringCodec()) as other,
        Journal.resumed(path) if path.exists() else Journal.begun(path, "abc", {}) as journal,
    ):
        recoding = Recoding(None, None, None, [QueueSite.of(other, "bills")])
        migration = Migration([QueueSite.of(client, "orders")], recoding, journal=journal, on_state=reached)
        return migration.run(quiet=0.2, patience=patience)


# -- a connection ----------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("side", ["source", "target"])
@pytest.mark.parametrize(
    "where",
    [
        "reply",
        pytest.param("command", marks=pytest.mark.nightly),
        pytest.param("sent", marks=pytest.mark.nightly),
        pytest.param("half", marks=pytest.mark.nightly),
    ],
)
def test_a_connection_that_is_cut(
    one: EmbeddedServer, second: EmbeddedServer, tmp_path: Path, side: str, where: Where
) -> None:
    """Before a script, behind it, and at its reply. A script whose reply is lost is not carried out twice."""
    filled(one.url)
    with Gate(lambda: (one if side == "source" else second).port or 0) as gate:
        urls = {"source": one.url, "target": second.url, side: gate.url}
        trap = gate.trap("exchange.lua", where, "cut", times=2)
        done = migrated(urls["source"], urls["target"], tmp_path)
        assert trap.sprung.is_set()
    assert (done.moved, done.left) == (WHOLE, {})
    assert found(second.url, "bills") == (READY, WAITING)


# -- memory ----------------------------------------------------------------------------------------------------------
def full(url: str, is_full: bool) -> None:
    with redis.Redis.from_url(url) as admin:
        used = admin.info("memory")["used_memory"]
        admin.config_set("maxmemory", used // 2 if is_full else 0)


@pytest.mark.nightly
@pytest.mark.parametrize("side", ["source", "target"])
def test_a_server_that_is_full_for_a_while(
    one: EmbeddedServer, second: EmbeddedServer, tmp_path: Path, side: str
) -> None:
    filled(one.url)
    url = one.url if side == "source" else second.url
    timer = threading.Timer(1.5, full, (url, False))

    def storm() -> None:
        full(url, True)
        timer.start()

    try:
        done = migrated(one.url, second.url, tmp_path, ("planned" if side == "source" else "held", 2), storm)
        assert (done.moved, done.left) == (WHOLE, {})
        assert found(second.url, "bills") == (READY, WAITING)
    finally:
        timer.join()
        full(url, False)


def test_a_server_that_stays_full_ends_it_and_it_goes_on_later(
    one: EmbeddedServer, second: EmbeddedServer, tmp_path: Path
) -> None:
    filled(one.url)
    try:
        with pytest.raises(RedissonDQError, match="has reached its maxmemory"):
            migrated(one.url, second.url, tmp_path, ("held", 2), lambda: full(second.url, True), patience=2)
    finally:
        full(second.url, False)
    assert migrated(one.url, second.url, tmp_path).moved == WHOLE
    assert found(second.url, "bills") == (READY, WAITING)


def test_an_action_on_a_full_server_is_taken_back_whole(
    one: EmbeddedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An undo that Redis refuses for lack of memory is repeated when there is room."""
    filled(one.url)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REDISSON_DQ_URL", one.url)
    assert main(shlex.split("cancel orders --all --yes --undo-file f")) == 0
    full(one.url, True)
    try:
        assert main(shlex.split("undo f --yes")) in (0, 1)
    finally:
        full(one.url, False)
    assert main(shlex.split("undo f --yes")) == 0
    assert sorted(found(one.url, "orders")[1]) == sorted(WAITING)


# -- a failover ------------------------------------------------------------------------------------------------------
@pytest.mark.nightly
@pytest.mark.parametrize("side", ["source", "target"])
@pytest.mark.parametrize("state", ["planned", "held", "written"])
def test_a_failover_under_a_sentinel(one: EmbeddedServer, tmp_path: Path, side: str, state: str) -> None:
    """The replica has all that the master had. It takes the master's place while a batch is on its way."""
    with ExitStack() as stack:
        watched = Watched(stack, tmp_path)
        url = f"redis+sentinel://127.0.0.1:{watched.port}/main?db=0"
        urls = {"source": one.url, "target": one.url, side: url}
        filled(urls["source"])

        def storm() -> None:
            with redis.Redis.from_url(watched.master.url) as admin:
                assert admin.wait(1, 10_000) == 1
            watched.master.kill()

        done = migrated(urls["source"], urls["target"], tmp_path, (state, 3), storm)
        assert (done.moved, done.left) == (WHOLE, {})
        told: list[Any] = []

        def look() -> bool:
            # Beside other work Sentinel may take the new master for dead for a moment.
            with suppress(RedisConnectionError):
                told.append(found(urls["target"], "bills"))
            return bool(told)

        eventually(look)
        assert told == [(READY, WAITING)]


def test_a_batch_goes_on_when_replicas_have_the_one_before(one: EmbeddedServer, second: EmbeddedServer) -> None:
    """Without a replica nothing leaves its queue. With one on each side, the replicas have all that was moved."""
    filled(one.url)

    def run(patience: int) -> Migrated:
        with (
            redisson_dq.connect(one.url, codec=StringCodec()) as client,
            redisson_dq.connect(second.url, codec=StringCodec()) as other,
        ):
            recoding = Recoding(None, None, None, [QueueSite.of(other, "bills")])
            confirmed = Durability(1, timeout=0.1)
            return Migration([QueueSite.of(client, "orders")], recoding, durable=confirmed).run(
                quiet=0.1, patience=patience
            )

    with pytest.raises(DurabilityError, match="0 of 1 replicas have confirmed"):
        run(0)
    assert found(one.url, "orders") == (READY, WAITING)
    with ExitStack() as stack:
        replicas = []
        for master in (one, second):
            admin = stack.enter_context(redis.Redis.from_url(master.url))
            replica = stack.enter_context(EmbeddedServer(program=PROGRAMS["redis"]()))
            replicas.append(stack.enter_context(redis.Redis.from_url(replica.url)))
            replicas[-1].replicaof("127.0.0.1", master.port)
            eventually(lambda: admin.wait(1, 100) == 1, within=PATIENCE)  # noqa: B023
            admin.config_resetstat()
        assert run(60).moved == WHOLE
        for master in (one, second):
            admin = stack.enter_context(redis.Redis.from_url(master.url))
            # 6 batches, and the token of the run.
            assert admin.info("commandstats")["cmdstat_wait"]["calls"] >= 6
        assert [each.llen("bills") for each in replicas] == [0, len(READY)]
        assert [each.llen("orders") for each in replicas] == [0, 0]


# -- a slot that moves -----------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with ExitStack() as stack:
        yield Cluster(stack, 2)


def _pause() -> None:
    threading.Event().wait(0.3)


@pytest.mark.nightly
@pytest.mark.parametrize("side", ["source", "target"])
@pytest.mark.parametrize("state", ["planned", "held", "written"])
def test_a_slot_that_moves_during_a_migration(
    one: EmbeddedServer, cluster: Cluster, tmp_path: Path, side: str, state: str
) -> None:
    """A key after the other goes to the other node, while scripts on all of them are refused."""
    for admin in cluster.admins:
        admin.flushall()
    url = f"redis+cluster://127.0.0.1:{cluster.servers[0].port}"
    urls = {"source": one.url, "target": one.url, side: url}
    name = "orders" if side == "source" else "bills"
    filled(urls["source"])
    moves = threading.Thread(target=lambda: cluster.move(name, 1 - cluster.owner(name), between=_pause))
    done = migrated(urls["source"], urls["target"], tmp_path, (state, 3), moves.start)
    moves.join()
    assert (done.moved, done.left) == (WHOLE, {})
    assert found(urls["target"], "bills") == (READY, WAITING)


@pytest.mark.nightly
def test_a_slot_that_moves_during_an_action(cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the command has done, its undo file takes it back."""
    for admin in cluster.admins:
        admin.flushall()
    url = f"redis+cluster://127.0.0.1:{cluster.servers[0].port}"
    filled(url)
    monkeypatch.setenv("REDISSON_DQ_URL", url)
    command = [sys.executable, "-m", "redisson_dq", *shlex.split("cancel orders --all --yes --undo-file f --json")]
    command += ["--rate", "200"]
    with subprocess.Popen(command, cwd=tmp_path, env=environment(), stdout=subprocess.PIPE, text=True) as run:
        cluster.move("orders", 1 - cluster.owner("orders"), between=_pause)
        out, _ = run.communicate(timeout=4 * PATIENCE)
    assert run.returncode == 0, out
    assert json.loads(out)["done"] == len(WAITING)
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split("undo f --yes")) == 0
    assert sorted(found(url, "orders")[1]) == sorted(WAITING)
