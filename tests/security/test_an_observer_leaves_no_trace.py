"""The user of ``redisson-dq acl --role observer``: every look works, the doctor is green, and nothing was refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
import redis

import redisson_dq
from redisson_dq.cli._main import main
from redisson_dq.codecs import StringCodec
from redisson_dq.doctor import Status, diagnose
from redisson_dq.embedded import EmbeddedServer
from tests.conftest import PATIENCE, emptied, eventually, moving

HOUR = 3600.0
STATES = ("waiting", "parked", "ready", "in-flight", "dead", "quarantined", "undecodable", "expired", "recurring")
LOOKS = [
    ["queues"],
    ["stats", "orders"],
    ["peek", "orders"],
    ["show", "orders", "d"],
    *(["list", "orders", "--state", state] for state in STATES),
    *([group, "list", "orders"] for group in ("dead", "quarantine", "undecodable")),
    ["doctor", "--skip", "persistence"],
]


def filled(client: Any) -> None:
    delayed, queue = moving(client.delayed_queue("orders")), client.blocking_queue("orders")
    delayed.offer("d", delay=HOUR, id="d")
    delayed.offer_recurring("e", "daily", every=HOUR)
    queue.add_all(["a", "b", "c"])
    assert queue.receive(timeout=PATIENCE)
    rejected = queue.receive(timeout=PATIENCE)
    assert rejected is not None
    rejected.reject("bad")
    eventually(lambda: client.inspect("orders").subscribers == 1)


@pytest.mark.parametrize(("kind", "version"), [("redis", "7.0"), ("valkey", "7.2")])
def test_every_look(
    servers: Callable[[str], EmbeddedServer], kind: str, version: str, capsys: pytest.CaptureFixture[str]
) -> None:
    url = emptied(servers(kind)).url
    theirs = url.replace("//", "//looker:secret@")
    assert main(["acl", "order*", "--role", "observer", "--user", "looker", "--server-version", version, "--json"]) == 0
    words: list[str] = json.loads(capsys.readouterr().out)["words"]
    words = [">secret" if each == ">PASSWORD" else each for each in words]
    with redis.Redis.from_url(url) as admin, redisson_dq.connect(url, codec=StringCodec()) as client:
        admin.execute_command(*words)
        try:
            admin.execute_command("ACL", "LOG", "RESET")
            # Before there is any queue.
            with redisson_dq.connect(theirs) as looking:
                assert not [each for each in diagnose(looking).findings if each.check in ("rights", "commands")]
            assert admin.execute_command("ACL", "LOG") == []
            filled(client)
            for look in LOOKS:
                capsys.readouterr()
                code = main([*look, "--url", theirs])
                told = capsys.readouterr()
                assert code in (0, 1), (look, told.err)
                assert "NOPERM" not in told.err + told.out, look
            assert admin.execute_command("ACL", "LOG") == []
            with redisson_dq.connect(theirs) as looking:
                report = diagnose(looking, ["orders"])
            assert {each.check: each.reason for each in report.results if each.status is Status.UNKNOWN} == {}
            assert "rights" not in [finding.check for finding in report.findings]
        finally:
            admin.execute_command("ACL", "DELUSER", "looker")


def test_a_user_that_only_reads_is_no_service_that_lacks_rights(servers: Callable[[str], EmbeddedServer]) -> None:
    """An older version tried EVALSHA first. The server remembers that for as long as its log is kept."""
    url = emptied(servers("redis")).url
    with redis.Redis.from_url(url) as admin:
        rules = (
            "%R~*",
            "+@read",
            "+@connection",
            "+eval_ro",
            "+evalsha_ro",
            "+time",
            "+acl|whoami",
            "+acl|log",
            "+info",
        )
        admin.execute_command("ACL", "SETUSER", "looker", "reset", "on", ">secret", *rules, "+pubsub|numsub")
        try:
            with redis.Redis.from_url(url.replace("//", "//looker:secret@")) as theirs:
                with pytest.raises(redis.exceptions.NoPermissionError):
                    theirs.execute_command("EVALSHA", "0" * 40, 0)
            with (
                redisson_dq.connect(url) as client,
                redisson_dq.connect(url.replace("//", "//looker:secret@")) as looking,
            ):
                moving(client.delayed_queue("orders")).offer("a", HOUR)
                assert [each.check for each in diagnose(looking, ["orders"], only=["rights"]).findings] == []
                # For anybody else that is a service which stands still.
                (finding,) = diagnose(client, ["orders"], only=["rights"]).findings
                assert finding.evidence["user"] == "looker"
                assert finding.commands[-1].endswith("ACL LOG RESET")
        finally:
            admin.execute_command("ACL", "DELUSER", "looker")
