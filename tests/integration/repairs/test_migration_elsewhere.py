"""The commands that move and change items, on a cluster, under a Sentinel."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import redis

import redisson_dq
from redisson_dq.cli._main import main
from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from tests.cluster import Cluster
from tests.conftest import emptied
from tests.integration.mending_play import play
from tests.integration.servers.test_topologies import Watched


@pytest.fixture
def one(servers: Callable[[str], EmbeddedServer]) -> EmbeddedServer:
    return emptied(servers("redis"))


def filled(url: str) -> tuple[list[str], list[tuple[Any, str]]]:
    """What is ready, and what waits when."""
    with redisson_dq.connect(url, codec=StringCodec()) as client:
        delayed, queue = client.delayed_queue("orders", transfer=False), client.blocking_queue("orders", transfer=False)
        delayed.offer_all([(f"value {number}", 3600 + number) for number in range(300)])
        delayed.offer("named", 3600, id="a")
        queue.add_all([f"ready {number}" for number in range(250)])
    return found(url, "orders")


def found(url: str, name: str, **options: Any) -> tuple[list[str], list[tuple[Any, str]]]:
    with redisson_dq.connect(url, codec=StringCodec()) as client:
        queue: Any = client.blocking_queue(name, transfer=False, **options)
        ready = [value for each in getattr(queue, "partitions", [queue]) for value in each.read_all()]
        items = client.delayed_queue(name, transfer=False, **options).items(0, 999)
        return ready, sorted((item.due, item.value) for item in items)


def test_a_cluster(one: EmbeddedServer, cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From one server into partitions on every node, to another name and slot, into a file and back."""
    monkeypatch.chdir(tmp_path)
    url = f"redis+cluster://127.0.0.1:{cluster.servers[0].port}"
    ready, waiting = filled(one.url)
    assert main(["migrate", "orders", "--url", one.url, "--to-url", url, "--to-partitions", "4", "--yes"]) == 0
    assert found(url, "orders", partitions=4)[1] == waiting
    assert sorted(found(url, "orders", partitions=4)[0]) == sorted(ready)
    more = ["--to-name", "bills", "--to-partitions", "1", "--journal", "second", "--yes"]
    assert main(["migrate", "orders", "--url", url, *more]) == 0
    assert found(url, "bills")[1] == waiting
    assert sum(len(admin.keys("*orders*")) for admin in cluster.admins) == 0
    assert main(["export", "bills", "--url", url, "--to", "bills.jsonl"]) == 0
    assert main(["import", "bills.jsonl", "--url", url, "--to-name", "cheques", "--yes"]) == 0
    assert found(url, "cheques") == found(url, "bills")
    # One slot: one script for each batch.
    assert main(["migrate", "bills", "--url", url, "--to-name", "{bills}new", "--journal", "third", "--yes"]) == 0
    assert found(url, "{bills}new") == found(url, "cheques")


def test_items_are_changed_on_a_cluster(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    play(f"redis+cluster://127.0.0.1:{cluster.servers[0].port}", capsys, partitions=4)


def test_a_sentinel(
    one: EmbeddedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with ExitStack() as stack:
        watched = Watched(stack, tmp_path)
        url = f"redis+sentinel://127.0.0.1:{watched.port}/main?db=0"
        there = filled(one.url)
        assert main(["migrate", "orders", "--url", one.url, "--to-url", url, "--yes"]) == 0
        assert found(url, "orders") == there
        with redis.Redis.from_url(one.url) as admin:
            assert admin.keys("*orders*") == []
        play(url, capsys)
