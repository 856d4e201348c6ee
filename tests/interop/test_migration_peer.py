"""Queues that Redisson fills and empties, with a file, another name, another form or another codec in between."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import redis

from redisson_dq.cli._main import main
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.java import Long
from tests.interop.conftest import EACH_VERSION, OpenJava
from tests.peer import from_json
from tests.versions import NEWEST, OLDEST, REDISSONS

VALUES: list[Any] = ["text", 7, Long(8), {"sku": "A-1", "tags": ["new", "gift"]}, [1, 2], "größe", 1.5, True]


@pytest.fixture(autouse=True)
def _there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, redis7: EmbeddedServer) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("REDISSON_DQ_URL", redis7.url)


@pytest.mark.parametrize("version", EACH_VERSION)
def test_a_backup_of_redissons_queue(
    redis7: EmbeddedServer, look: redis.Redis, java: OpenJava, queue: str, version: str
) -> None:
    java(redis7.url, version=version).offer_all([(value, 3_600_000 + n) for n, value in enumerate(VALUES)])
    before = {key: look.dump(key) for key in look.keys("*") if b"redisson_dq" not in key}
    assert len(before) == 2
    assert main(["export", queue, "--to", "backup.jsonl"]) == 0
    look.flushall()
    assert main(["import", "backup.jsonl", "--yes"]) == 0
    assert {key: look.dump(key) for key in look.keys("*")} == before
    reader = java(redis7.url, version=version)
    assert sorted(map(repr, reader.invoke("delayed", "readAll"))) == sorted(map(repr, VALUES))


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (OLDEST, NEWEST),
        (NEWEST, OLDEST),
        pytest.param(OLDEST, OLDEST, marks=pytest.mark.nightly),
        *(pytest.param(NEWEST, each, marks=pytest.mark.nightly) for each in REDISSONS[1:-1]),
    ],
)
@pytest.mark.parametrize("codec", ["Kryo5Codec", "JsonJacksonCodec"])
def test_from_one_redisson_to_another(
    redis7: EmbeddedServer, look: redis.Redis, java: OpenJava, queue: str, source: str, target: str, codec: str
) -> None:
    """The other Redisson reads its own form of entries alone, and the values of its own codec."""
    written = java(redis7.url, version=source)
    written.offer_all([(value, 3_600_000) for value in VALUES])
    written.offer_all([(value, 0) for value in VALUES])
    form = "legacy" if target == OLDEST else "current"
    more = [] if codec == "Kryo5Codec" else ["--to-codec", codec]
    assert main(["migrate", queue, "--to-name", f"{queue}-new", "--to-envelope", form, *more, "--yes"]) == 0
    assert not look.exists(queue, f"redisson_delay_queue_timeout:{{{queue}}}", f"redisson_delay_queue:{{{queue}}}")
    # They fall due before the other Redisson comes. Its own script moves them.
    timeout: str = f"redisson_delay_queue_timeout:{{{queue}-new}}"
    members: Any = look.zrange(timeout, 0, -1)
    look.zadd(timeout, dict.fromkeys(members, 1000))
    reader = java(redis7.url, version=target, codec=codec, queue=f"{queue}-new")
    assert reader.invoke("delayed", "size") <= len(VALUES)
    taken = [from_json(item["value"]) for item in reader.taking(2 * len(VALUES)).result(60)]
    assert sorted(map(repr, taken)) == sorted(map(repr, [*VALUES, *VALUES]))


def test_out_of_redis_as_json(redis7: EmbeddedServer, java: OpenJava, queue: str, tmp_path: Path) -> None:
    java(redis7.url, version=OLDEST).offer_all([(value, 3_600_000) for value in VALUES])
    assert main(["migrate", queue, "--to-json", "items.jsonl", "--yes"]) == 0
    lines = [json.loads(line) for line in (tmp_path / "items.jsonl").read_text().splitlines()]
    assert sorted(repr(line["value"]) for line in lines) == sorted(
        repr(int(v) if isinstance(v, Long) else v) for v in VALUES
    )
    assert all(line["due_ms"] > 1_700_000_000_000 for line in lines)
