"""The commands that move and change items: with a certificate, and by users with few rights."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import redis

import redisson_dq
from redisson_dq.cli._main import main
from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from tests.conftest import emptied
from tests.integration.mending_play import play
from tests.security.conftest import Certificates
from tests.security.test_rights_of_a_user import grants


@pytest.fixture
def one(servers: Callable[[str], EmbeddedServer]) -> EmbeddedServer:
    return emptied(servers("redis"))


def _fill(url: str) -> None:
    with redisson_dq.connect(url, codec=StringCodec()) as client:
        client.delayed_queue("orders", transfer=False).offer_all([(f"value {number}", 3600) for number in range(30)])
        client.delayed_queue("orders", transfer=False).offer("named", 3600, id="a")
        client.blocking_queue("orders", transfer=False).add_all(["a", "b"])


def test_a_server_that_wants_certificates(
    one: EmbeddedServer,
    tls_server: tuple[EmbeddedServer, int],
    certificates: Certificates,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    server, port = tls_server
    keys = f"ssl_certfile={certificates.client}&ssl_keyfile={certificates.client_key}"
    url = f"rediss://localhost:{port}/0?ssl_ca_certs={certificates.ca}&{keys}"
    _fill(one.url)
    assert main(["migrate", "orders", "--url", one.url, "--to-url", url, "--yes"]) == 0
    assert main(["export", "orders", "--url", url, "--to", "orders.jsonl"]) == 0
    assert main(["import", "orders.jsonl", "--url", url, "--to-name", "other", "--yes"]) == 0
    with redis.Redis.from_url(server.url) as admin:
        assert admin.lrange("other", 0, -1) == admin.lrange("orders", 0, -1) == [b"a", b"b"]
        assert admin.zcard("redisson_delay_queue_timeout:{other}") == 31
    play(url, capsys)


def test_a_user_with_the_documented_rights(
    one: EmbeddedServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    _fill(one.url)
    with redis.Redis.from_url(one.url) as admin:
        admin.execute_command("ACL", "SETUSER", "limited", "reset", "on", ">secret", *grants())
        try:
            url = one.url.replace("//", "//limited:secret@")
            admin.execute_command("ACL", "LOG", "RESET")
            assert main(["export", "orders", "--url", url, "--to", "orders.jsonl"]) == 0
            assert main(["import", "orders.jsonl", "--url", url, "--to-name", "other", "--yes"]) == 0
            admin.flushdb()
            assert main(["import", "orders.jsonl", "--url", url, "--yes"]) == 0
            assert main(["migrate", "orders", "--url", url, "--to-name", "other", "--yes"]) == 0
            assert admin.execute_command("ACL", "LOG") == []
            assert admin.zcard("redisson_delay_queue_timeout:{other}") == 31
        finally:
            admin.execute_command("ACL", "DELUSER", "limited")


def test_an_export_needs_no_right_to_write(one: EmbeddedServer, tmp_path: Path) -> None:
    _fill(one.url)
    with redis.Redis.from_url(one.url) as admin:
        rights = ("+@read", "+@connection", "+@fast", "-@write", "+evalsha_ro", "+eval_ro", "+info", "+watch", "~*")
        admin.execute_command("ACL", "SETUSER", "looks", "reset", "on", ">secret", *rights)
        try:
            url = one.url.replace("//", "//looks:secret@")
            assert main(["export", "orders", "--url", url, "--to", str(tmp_path / "orders.jsonl")]) == 0
            assert main(["import", str(tmp_path / "orders.jsonl"), "--url", url, "--merge", "--yes"]) == 77
            assert admin.lrange("orders", 0, -1) == [b"a", b"b"]
        finally:
            admin.execute_command("ACL", "DELUSER", "looks")
