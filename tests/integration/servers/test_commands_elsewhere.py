"""The commands that look, offer, take and move, on a cluster and behind a Sentinel."""

from __future__ import annotations

import json
import shlex
import subprocess
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

import redisson_dq
from redisson_dq.cli import main
from redisson_dq.embedded import EmbeddedServer
from tests.cluster import Cluster
from tests.integration.servers.test_topologies import Watched

Run = Callable[..., str]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command for a URL. Gives its output where the exit code is the wanted one."""

    def run(url: str, *words: str, code: int = 0) -> str:
        monkeypatch.setenv("REDISSON_DQ_URL", url)
        found = main(words)
        told = capsys.readouterr()
        assert found == code, told.err
        return told.out

    return run


def operated(run: Run, url: str, *partitions: str) -> None:
    """Each command that is for one queue or all of them."""
    run(url, "offer", "orders", '{"id": 1}', '{"id": 2}', "--delay", "1h", "--codec", "json", *partitions)
    run(url, "offer", "orders", '{"id": 3}', "--delay", "1ms", "--id", "due", "--codec", "json", *partitions)
    (row,) = json.loads(run(url, "queues", "--json"))["queues"]
    assert (row["name"], row["stats"]["waiting"]) == ("orders", 3)
    assert json.loads(run(url, "move", "orders", "--json"))["queues"] == [
        {"queue": "orders", "moved": 1, "left": 0, "reason": None}
    ]
    items = json.loads(run(url, "list", "orders", "--filter", "value.id = 2", "--json"))["items"]
    assert [each["value"] for each in items] == [{"id": 2}]
    assert "JsonJacksonCodec" in run(url, "show", items[0]["queue"], items[0]["id"])
    assert json.loads(run(url, "peek", "orders", "--json"))["items"][0]["value"] == {"id": 3}
    assert json.loads(run(url, "stats", "orders", "--json"))["queues"][0]["ready"] == 1
    assert json.loads(run(url, "watch", "--count", "1", "--json"))["queues"][0]["stats"]["waiting"] == 2
    assert json.loads(run(url, "take", "orders")) == {"id": 3}
    findings = json.loads(run(url, "doctor", "--json", code=1))["findings"]
    assert {"nobody-moves"} <= {each["check"] for each in findings} <= {"nobody-moves", "persistence", "replication"}
    for each in findings:
        # The command that shows it reaches the server.
        done = subprocess.run(["bash", "-c", each["shown_by"]], capture_output=True, text=True, check=True)
        assert done.stdout
        assert "ERR" not in done.stdout
        assert "MOVED" not in done.stdout


def test_a_cluster(run: Run) -> None:
    with ExitStack() as stack:
        cluster = Cluster(stack, 2)
        operated(run, f"redis+cluster://{cluster.url.removeprefix('redis://').partition('/')[0]}", "--partitions", "4")


def test_one_node_of_a_cluster_says_that_it_tells_of_a_part(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)

    def run(*words: str) -> tuple[int, str]:
        code = main(words)
        return code, capsys.readouterr().err

    with ExitStack() as stack:
        cluster = Cluster(stack, 2)
        here, there = (next(f"q{i}" for i in range(100) if cluster.owner(f"q{i}") == node) for node in (0, 1))
        whole = f"redis+cluster://{cluster.url.removeprefix('redis://').partition('/')[0]}"
        with redisson_dq.connect(whole) as client:
            for name in (here, there):
                client.delayed_queue(name, transfer=False).offer(1, delay=0)
        looker = "ACL SETUSER looker on >secret ~* &* -@all +@read +eval +evalsha +time"
        cluster.admins[0].execute_command(*shlex.split(looker))
        node = f"{cluster.url} is one node of a cluster"
        said = f"{node}, and shows only its own queues: --url {whole} shows all of them\n"
        for url in (cluster.url, cluster.url.replace("redis://", "redis://looker:secret@")):
            monkeypatch.setenv("REDISSON_DQ_URL", url)
            for words in (["queues"], ["stats", here], ["watch", "--count", "1"]):
                assert run(*words) == (0, said)
        monkeypatch.setenv("REDISSON_DQ_URL", cluster.url)
        assert run("move", here, "--json") == (0, said)
        for words in (["list", there], ["export", there], ["migrate", here, "--to-name", there, "--yes"]):
            code, err = run(*words)
            assert (code, "is one node of a cluster: name it as redis+cluster://" in err) == (64, True), err
        with EmbeddedServer() as another:
            words = ["migrate", here, "--url", another.url, "--to-url", cluster.url, "--yes"]
            assert run(*words)[0] == 64
        assert list(tmp_path.iterdir()) == []
        assert run("doctor")[0] == 64
        monkeypatch.setenv("REDISSON_DQ_URL", whole)
        assert run("queues") == (0, "")


def test_a_cluster_of_one_node_says_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with ExitStack() as stack:
        monkeypatch.setenv("REDISSON_DQ_URL", Cluster(stack, 1).url)
        assert main(["queues"]) == 0
        assert capsys.readouterr().err == ""


@pytest.mark.nightly
def test_a_sentinel(run: Run, tmp_path: Path) -> None:
    with ExitStack() as stack:
        watched = Watched(stack, tmp_path)
        operated(run, f"redis+sentinel://127.0.0.1:{watched.port}/main")
