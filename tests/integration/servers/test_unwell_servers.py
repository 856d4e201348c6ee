"""Commands on a server that is unavailable, or is not the one the user means: exit codes and messages."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
import redis

import redisson_dq
from redisson_dq.cli import main
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.testing.faults import Faults
from tests.cluster import Cluster, low_port
from tests.conftest import PATIENCE, PROGRAMS, REPLICATES_AT_ONCE, emptied, environment, eventually
from tests.integration.servers.test_topologies import sentinel_of

Run = Callable[..., tuple[int, str, str]]

LOOKS = (
    ("queues",),
    ("stats", "orders"),
    ("list", "orders"),
    ("show", "orders", "ready@0"),
    ("peek", "orders"),
    ("watch", "orders", "--count", "1"),
    ("dead", "list", "orders"),
)
WRITES = (
    ("offer", "orders", "1"),
    ("take", "orders"),
    ("cancel", "orders", "--all", "--yes", "--no-undo"),
    ("reschedule", "orders", "--all", "--by", "1h", "--yes", "--no-undo"),
    ("pause", "orders", "--yes", "--no-undo"),
    ("undecodable", "add", "orders", "ready@0", "--yes", "--no-undo"),
)
#: A client waits some seconds for these conditions to pass.
FEW = (LOOKS[1], WRITES[0])


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)

    def run(url: str, *words: str) -> tuple[int, str, str]:
        code = main([*words, "--url", url, "--timeout", "1"])
        told = capsys.readouterr()
        return code, told.out, told.err

    return run


def filled(url: str) -> None:
    with redisson_dq.connect(url) as client:
        client.delayed_queue("orders", transfer=False).offer("waits", delay=3600)
        client.blocking_queue("orders", transfer=False).add("ready")


def each_is_refused(run: Run, url: str, commands: tuple[tuple[str, ...], ...], code: int, *texts: str) -> None:
    """Each command ends with that code, and says these texts in one line."""
    for words in commands:
        found, _, told = run(url, *words)
        Path("orders-migration.jsonl").unlink(missing_ok=True)
        assert found == code, (words, told)
        (line,) = [line for line in told.splitlines() if "error: " in line]
        assert [text for text in texts if text not in line] == [], (words, line)


def test_a_replica_is_looked_at_and_says_where_to_write(run: Run, servers: Any) -> None:
    master: EmbeddedServer = emptied(servers("redis"))
    filled(master.url)
    config = {"replicaof": f"127.0.0.1 {master.port}", **REPLICATES_AT_ONCE}
    with EmbeddedServer(program=PROGRAMS["redis"](), config=config) as replica:
        with redis.Redis.from_url(replica.url) as admin:
            eventually(lambda: admin.info("replication")["master_link_status"] == "up" and admin.llen("orders"))
        for words in LOOKS:
            code, _, told = run(replica.url, *words)
            assert (code, told) == (0, ""), words
        each_is_refused(run, replica.url, WRITES, 1, "READONLY", "this server is a replica: name its master")
        code, out, _ = run(replica.url, "doctor", "--only", "replication")
        assert (code, "is a replica of" in out) == (1, True)


@contextmanager
def busy(url: str) -> Iterator[None]:
    """A script that nobody ends."""
    with redis.Redis.from_url(url) as admin, redis.Redis.from_url(url, socket_timeout=None) as other:
        admin.config_set("busy-reply-threshold", 10)

        def go_on() -> None:
            with pytest.raises(redis.ResponseError):
                other.eval("while true do end", 0)

        thread = threading.Thread(target=go_on)
        thread.start()
        try:
            eventually(lambda: _is_busy(admin))
            yield
        finally:
            admin.script_kill()
            thread.join()


def _is_busy(admin: redis.Redis) -> bool:
    try:
        admin.ping()
    except redis.ResponseError:
        return True
    return False


def test_a_server_that_is_busy_with_a_script(run: Run, own_server: EmbeddedServer) -> None:
    filled(own_server.url)
    with busy(own_server.url):
        each_is_refused(run, own_server.url, (*LOOKS, *WRITES), 69, "BUSY", "end it with redis-cli SCRIPT KILL")
        code, out, _ = run(own_server.url, "doctor")
        assert (code, "SCRIPT KILL" in out) == (69, True)


@pytest.mark.parametrize(
    ("refusal", "remedy"),
    [
        ("LOADING Redis is loading the dataset in memory", "try again when it has started"),
        ("MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.", "name another server"),
    ],
)
def test_a_server_that_is_not_ready_yet(run: Run, own_server: EmbeddedServer, refusal: str, remedy: str) -> None:
    filled(own_server.url)
    with Faults(own_server) as faults, faults.refused("*", refusal):
        each_is_refused(run, faults.url, FEW, 69, refusal.split()[0], remedy)
        code, out, _ = run(faults.url, "doctor")
        assert (code, remedy in out) == (69, True)


def test_a_node_without_its_cluster(run: Run) -> None:
    config = {"cluster-enabled": "yes"}
    with EmbeddedServer(program=PROGRAMS["redis"](), port=low_port(), config=config) as alone:
        each_is_refused(run, alone.url, FEW, 69, "CLUSTERDOWN", "redis-cli CLUSTER INFO")


def test_a_node_of_a_cluster_is_named_as_a_server(run: Run) -> None:
    with ExitStack() as stack:
        cluster = Cluster(stack, 2)
        other = cluster.servers[1 - cluster.owner("orders")].url
        commands = [each for each in (*LOOKS, *WRITES) if each[0] != "queues"]
        each_is_refused(run, other, tuple(commands), 64, "MOVED", "name it as redis+cluster://host:port")
        # A node knows neither the other queues nor who listens to its own ones.
        for server in cluster.servers:
            code, out, _ = run(server.url, "doctor")
            assert (code, "one node of a cluster: name it as redis+cluster://host:port" in out) == (64, True)


def test_a_node_of_a_cluster_that_is_away(run: Run) -> None:
    """Queues of the other nodes are moved by their names, and the doctor shows the node that is away."""
    with ExitStack() as stack:
        cluster = Cluster(stack, 3)
        place = cluster.url.removeprefix("redis://").partition("/")[0]
        url = f"redis+cluster://{place}"
        names = [f"queue-{letter}" for letter in "abcdefghijkl"]
        near = next(name for name in names if cluster.owner(name) == 0)
        away = next(name for name in names if cluster.owner(name) == 2)
        assert run(url, "offer", near, "1", "--delay", "1ms")[0] == 0
        cluster.servers[2].kill()
        code, out, _ = run(url, "move", away, near, "--json")
        rows = {row["queue"]: row for row in json.loads(out)["queues"]}
        assert (code, rows[near]["moved"], "refused" in rows[away]["reason"]) == (1, 1, True), out
        assert run(url, "move", away)[0] == 69
        code, out, _ = run(url, "stats", away, near, "--json")
        assert (code, [each["error"] is None for each in json.loads(out)["queues"]]) == (69, [False, True])
        code, out, _ = run(url, "doctor", near, "--json")
        finding = json.loads(out)["findings"][0]
        assert (code, finding["check"]) == (69, "connection")
        assert finding["shown_by"] == f"redis-cli -p {cluster.servers[2].port} -c PING"


def test_a_cluster_of_one_node_may_be_named_as_a_server(run: Run) -> None:
    with EmbeddedServer(program=PROGRAMS["redis"](), port=low_port(), config={"cluster-enabled": "yes"}) as alone:
        with redis.Redis.from_url(alone.url) as admin:
            admin.execute_command("CLUSTER ADDSLOTSRANGE", 0, 16383)
            eventually(lambda: admin.execute_command("CLUSTER INFO")["cluster_state"] == "ok")
        assert run(alone.url, "offer", "orders", "1")[0] == 0
        code, out, _ = run(alone.url, "doctor", "--skip", "persistence")
        assert (code, "0 problems" in out) == (0, True), out


def test_a_url_that_names_another_kind_of_server(run: Run, own_server: EmbeddedServer, tmp_path: Path) -> None:
    place = own_server.url.removeprefix("redis://").partition("/")[0]
    with ExitStack() as stack:
        sentinel = f"127.0.0.1:{sentinel_of(stack, tmp_path, own_server)}"
        for url, remedy in (
            (f"redis://{place}/99", "redis-cli INFO keyspace"),
            (f"redis+sentinel://{sentinel}/main/99", "redis-cli INFO keyspace"),
            (f"redis+sentinel://{place}/main", "name it as redis://host:port"),
            (f"redis+cluster://{place}", "name it as redis://host:port"),
            (f"redis+cluster://{sentinel}", "name it as redis://host:port"),
            (f"redis://{sentinel}", "name its master as redis+sentinel://host:port/service"),
            (f"redis://{sentinel}/1", "name its master as redis+sentinel://host:port/service"),
        ):
            each_is_refused(run, url, (LOOKS[0], *FEW), 64, remedy)
            code, out, _ = run(url, "doctor", "orders")
            (finding,) = [line for line in out.splitlines() if line.startswith("problem: ")]
            assert (code, finding.startswith("problem: connection: "), remedy in finding) == (64, True, True), out


def interrupted(*words: str) -> str:
    """The standard error of a migration that waits for Redis and is ended by Ctrl-C then."""
    command = [sys.executable, "-m", "redisson_dq", *words, "--timeout", "1"]
    with subprocess.Popen(command, env=environment(), stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        told = ""
        while "asking again" not in told:
            line = process.stderr.readline()
            assert line, told
            told += line
        process.send_signal(signal.SIGINT)
        told += process.communicate(timeout=PATIENCE)[1]
    assert process.returncode in (1, 69, 130), told
    return told


def test_a_full_target(run: Run, own_server: EmbeddedServer, second: EmbeddedServer) -> None:
    """An import stops and a migration waits. Both say so, and go on when there is room."""
    with redisson_dq.connect(own_server.url) as client:
        client.delayed_queue("orders", transfer=False).offer_all([("v" * 500, 3600.0 + i) for i in range(2000)])
    assert run(own_server.url, "export", "orders", "--to", "orders.jsonl")[0] == 0
    migrating = ("migrate", "orders", "--to-url", second.url, "--yes", "--url", own_server.url)
    with redis.Redis.from_url(second.url) as admin:
        admin.config_set("maxmemory", int(admin.info("memory")["used_memory"]) + 300_000)
        try:
            code, _, told = run(second.url, "import", "orders.jsonl", "--yes")
            assert (code, "raise maxmemory" in told) == (1, True)
            assert "to go on: redisson-dq import orders.jsonl" in told
            admin.flushall()
            told = interrupted(*migrating)
            assert "raise maxmemory" in told
            assert "to go on: redisson-dq migrate orders" in told
        finally:
            admin.config_set("maxmemory", 0)
        assert main([*migrating, "--resume", "orders-migration.jsonl"]) == 0
        with redisson_dq.connect(second.url) as client:
            assert client.delayed_queue("orders", transfer=False).size() == 2000
        admin.flushall()
        assert run(second.url, "import", "orders.jsonl", "--yes")[0] == 0
        with redisson_dq.connect(second.url) as client:
            assert client.delayed_queue("orders", transfer=False).size() == 2000


def test_a_wrong_password(run: Run, own_server: EmbeddedServer) -> None:
    filled(own_server.url)
    with redis.Redis.from_url(own_server.url) as admin:
        admin.config_set("requirepass", "secret")
        wrong = own_server.url.replace("//", "//:other@")
        for url in (own_server.url, wrong):
            each_is_refused(run, url, (*LOOKS, *WRITES), 77)
            assert run(url, "doctor")[0] == 77


def test_a_connection_that_never_answers(run: Run, own_server: EmbeddedServer) -> None:
    filled(own_server.url)
    commands = (("list", "orders"), ("export", "orders", "--to", "f"), ("migrate", "orders", "--to-name", "b", "--yes"))
    with Faults(own_server) as faults, faults.frozen():
        each_is_refused(run, faults.url, commands, 69, "cannot connect to Redis", "imeout")
        code, out, _ = run(faults.url, "doctor")
        assert (code, "imeout" in out) == (69, True)


def test_a_connection_that_stands_still_loses_nothing(run: Run, own_server: EmbeddedServer) -> None:
    """The command ends within its time limits or by Ctrl-C, and the line that it prints goes on."""
    with redisson_dq.connect(own_server.url) as client:
        client.delayed_queue("orders", transfer=False).offer_all([(f"value {i}", 3600.0 + i) for i in range(1500)])
    exporting = ("export", "orders", "--to", "orders.jsonl")
    with Faults(own_server) as faults:
        migrating = ("migrate", "orders", "--to-name", "bills", "--yes", "--url", faults.url)
        with faults.frozen_at("LRANGE"):
            code, _, told = run(faults.url, *exporting)
        assert (code, "imeout" in told, "to go on: redisson-dq export orders" in told) == (69, True, True), told
        assert run(faults.url, *exporting)[0] == 0
        with faults.frozen_at("exchange"):
            told = interrupted(*migrating)
        assert "to go on: redisson-dq migrate orders" in told
        assert main([*migrating, "--resume", "orders-migration.jsonl"]) == 0
        assert run(faults.url, "import", "orders.jsonl", "--to-name", "copy", "--yes")[0] == 0
    with redisson_dq.connect(own_server.url) as client:
        sizes = [client.delayed_queue(name, transfer=False).size() for name in ("orders", "bills", "copy")]
    assert sizes == [0, 1500, 1500]


def test_a_change_whose_replies_stay_away_says_so_and_tries_again(run: Run, own_server: EmbeddedServer) -> None:
    filled(own_server.url)
    with Faults(own_server) as faults, faults.lost_reply("mend.lua", times=2):
        code, out, told = run(faults.url, "cancel", "orders", "--all", "--yes", "--undo-file", "f")
        assert (code, "cancelled 1 of 1 item of orders" in out, told.count("asking again")) == (0, True, 2)
