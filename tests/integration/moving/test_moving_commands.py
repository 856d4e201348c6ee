"""``redisson-dq move`` by names and by patterns: of partitions, and of queues whose names look like patterns."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import cast

import pytest
import redis

from redisson_dq import partition_names
from redisson_dq.cli import main
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.wire.keys import QueueKeys
from tests.conftest import emptied

_OFFER = ("--text", "--codec", "string", "--delay", "1h")


@pytest.fixture
def admin(servers: object, monkeypatch: pytest.MonkeyPatch) -> Iterator[redis.Redis]:
    server: EmbeddedServer = emptied(servers("redis"))  # type: ignore[operator]
    monkeypatch.setenv("REDISSON_DQ_URL", server.url)
    with redis.Redis.from_url(server.url) as admin:
        yield admin


def _make_due(admin: redis.Redis, name: str) -> None:
    timeout = QueueKeys.of(name).timeout
    for member in cast("list[bytes]", admin.zrange(timeout, 0, -1)):
        admin.zadd(timeout, {member: 1})


@pytest.mark.parametrize("name", ["q[1]", "[^a]"])
def test_a_name_that_looks_like_a_pattern_stands_for_itself(
    admin: redis.Redis, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    """The doctor prints such commands."""
    main(["offer", name, "late", *_OFFER])
    _make_due(admin, name)
    assert main(["queues", name, "--json"]) == 0
    assert [each["name"] for each in json.loads(capsys.readouterr().out.partition("\n")[2])["queues"]] == [name]
    assert main(["move", name]) == 0
    assert admin.llen(name) == 1


def test_a_pattern_for_a_queue_moves_all_its_partitions(admin: redis.Redis, capsys: pytest.CaptureFixture[str]) -> None:
    main(["offer", "parts", *"abcdef", *_OFFER, "--partitions", "4"])
    for name in partition_names("parts", 4):
        _make_due(admin, name)
    capsys.readouterr()
    assert main(["move", "*arts", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["queues"] == [{"queue": "parts", "moved": 6, "left": 0, "reason": None}]


@pytest.mark.usefixtures("admin")
def test_a_pattern_that_no_queue_matches_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["move", "order*"]) == 0
    assert capsys.readouterr().out == "no queue matches 'order*'\n"


def test_a_user_without_rights_is_told_by_the_exit_code(
    admin: redis.Redis, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    admin.acl_setuser("nobody", enabled=True, passwords="+secret", keys="*", channels="*", commands=["-@all"])
    place = admin.connection_pool.connection_kwargs
    monkeypatch.setenv("REDISSON_DQ_URL", f"redis://nobody:secret@{place['host']}:{place['port']}")
    try:
        assert main(["move", "orders"]) == 77
        assert "no permissions" in re.sub(r"\s+", " ", capsys.readouterr().out)
    finally:
        admin.acl_deluser("nobody")


def test_a_key_of_another_type_is_told_by_the_exit_code(admin: redis.Redis, capsys: pytest.CaptureFixture[str]) -> None:
    admin.set(QueueKeys.of("wrong").timeout, "x")
    assert main(["move", "wrong"]) == 65
    assert "holds a string" in re.sub(r"\s+", " ", capsys.readouterr().out)
    assert main(["move", "wrong", "orders"]) == 1
