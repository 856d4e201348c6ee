"""``redisson-dq doctor`` and ``move`` on a cluster, under a Sentinel, over TLS, and for users that lack rights."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
import redis

import redisson_dq
from redisson_dq.cli._main import main
from redisson_dq.embedded import EmbeddedServer
from tests.cluster import Cluster
from tests.conftest import eventually, moving
from tests.integration.servers.test_topologies import Watched
from tests.security.conftest import Certificates

HOUR = 3600.0


class Command:
    """The command line for one server."""

    def __init__(self, url: str, capsys: pytest.CaptureFixture[str]) -> None:
        self._url, self._capsys = url, capsys

    def json(self, *words: str) -> tuple[int, Any]:
        self._capsys.readouterr()
        code = main([*words, "--json", "--url", self._url])
        return code, json.loads(self._capsys.readouterr().out)

    def findings(self, *words: str) -> tuple[int, list[tuple[str, str | None]]]:
        # These servers keep no file.
        code, told = self.json("doctor", "--skip", "persistence", *words)
        return code, sorted((each["check"], each["queue"]) for each in told["findings"])


def plant_and_mend(url: str, command: Command) -> None:
    """A queue that nobody moves, a queue that is well."""
    with redisson_dq.connect(url) as client:
        client.delayed_queue("lonely", transfer=False).offer_all([("a", 0.001), ("b", HOUR)])
        moving(client.delayed_queue("well")).offer("c", delay=HOUR)
        eventually(lambda: client.inspect("lonely").overdue == 1)
        eventually(lambda: command.findings() == (1, [("nobody-moves", "lonely")]))
        code, told = command.json("move", "lonely")
        assert (code, told["queues"]) == (0, [{"queue": "lonely", "moved": 1, "left": 0, "reason": None}])
        assert command.findings("well") == (0, [])


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with ExitStack() as stack:
        yield Cluster(stack, 3)


def test_a_cluster(cluster: Cluster, capsys: pytest.CaptureFixture[str]) -> None:
    url = f"redis+cluster://{cluster.url.removeprefix('redis://').partition('/')[0]}"
    command = Command(url, capsys)
    plant_and_mend(url, command)
    # A queue in partitions, which stand on all nodes, is told of as one.
    with redisson_dq.connect(url) as client:
        client.delayed_queue("parts", partitions=4, transfer=False).offer_all([(n, HOUR) for n in range(20)])
    code, told = command.json("doctor", "parts", "--only", "nobody-moves")
    assert (code, [(each["queue"], each["evidence"]["partitions"]) for each in told["findings"]]) == (1, [("parts", 4)])


def test_a_sentinel(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with ExitStack() as stack:
        watched = Watched(stack, tmp_path)
        url = f"redis+sentinel://127.0.0.1:{watched.port}/main"
        command = Command(url, capsys)
        plant_and_mend(url, command)
        # The URL of the replica instead.
        replica = Command(watched.replica.url, capsys)
        assert replica.findings("--only", "replication") == (1, [("replication", None)])


def test_tls(
    tls_server: tuple[EmbeddedServer, int], certificates: Certificates, capsys: pytest.CaptureFixture[str]
) -> None:
    options = {
        "ssl_ca_certs": certificates.ca,
        "ssl_certfile": certificates.client,
        "ssl_keyfile": certificates.client_key,
    }
    url = f"rediss://localhost:{tls_server[1]}/0?{urlencode(options)}"
    plant_and_mend(url, Command(url, capsys))
    code, told = Command(f"rediss://localhost:{tls_server[1]}/0", capsys).json("doctor")
    assert code == 69
    assert {each["status"] for each in told["checks"][1:]} == {"unknown"}


@pytest.fixture
def guarded(tls_server: tuple[EmbeddedServer, int]) -> Iterator[tuple[redis.Redis, str]]:
    with redis.Redis.from_url(tls_server[0].url) as admin:
        yield admin, tls_server[0].url


def test_users_without_rights(guarded: tuple[redis.Redis, str], capsys: pytest.CaptureFixture[str]) -> None:
    admin, url = guarded
    with redisson_dq.connect(url) as client:
        moving(client.delayed_queue("orders")).offer("a", delay=HOUR)
        eventually(lambda: client.inspect("orders").subscribers == 1)
        # The first command is refused already.
        admin.execute_command("ACL", "SETUSER", "nobody", "reset", "on", ">secret", "-@all")
        for user in ("nobody:secret", "nobody:wrong"):
            code, told = Command(url.replace("//", f"//{user}@"), capsys).json("doctor")
            assert (code, told["checks"][0]) == (77, {"id": "connection", "status": "problem", "reason": None})
        # A service that may not subscribe.
        admin.execute_command("ACL", "SETUSER", "svc", "reset", "on", ">secret", "+@all", "-subscribe", "~*", "&*")
        service = Command(url.replace("//", "//svc:secret@"), capsys)
        assert service.findings("--only", "rights") == (1, [("rights", "orders")])
        # A check that may not ask is unknown, and the others run.
        admin.execute_command(
            "ACL", "SETUSER", "few", "reset", "on", ">secret", "+@all", "-slowlog", "-info", "~*", "&*"
        )
        code, told = Command(url.replace("//", "//few:secret@"), capsys).json("doctor", "--skip", "rights")
        unknown = {each["id"] for each in told["checks"] if each["status"] == "unknown"}
        assert unknown == {"server-version", "eviction", "persistence", "memory", "replication", "slow-scripts"}
        assert (code, told["findings"]) == (0, [])
