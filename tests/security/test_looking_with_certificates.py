"""The commands that look, on a server that wants certificates, and whoever has none is told so."""

from __future__ import annotations

import json
from urllib.parse import urlencode

import pytest
import redis

import redisson_dq
from redisson_dq.cli import main
from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from tests.security.conftest import Certificates

LOOKS = (
    *("queues", "stats orders", "list orders", "list orders --filter 'id = a'", "show orders a", "peek orders"),
    *("watch orders --count 1", "dead list orders", "quarantine list orders", "undecodable list orders"),
)


def test_each_look_and_the_doctor(
    tls_server: tuple[EmbeddedServer, int], certificates: Certificates, capsys: pytest.CaptureFixture[str]
) -> None:
    server, port = tls_server
    files = {
        "ssl_ca_certs": certificates.ca,
        "ssl_certfile": certificates.client,
        "ssl_keyfile": certificates.client_key,
    }
    url = f"rediss://localhost:{port}/0?{urlencode(files)}"
    with redisson_dq.connect(url, codec=StringCodec()) as client:
        client.delayed_queue("orders", transfer=False).offer("order-1", 3600, id="a")
    for words in LOOKS:
        assert main([*words.replace("'id = a'", "id=a").split(), "--json", "--url", url]) == 0, words
        assert json.loads(capsys.readouterr().out)["schema"] == 1
    assert main(["doctor", "--json", "--url", url]) == 1
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert {each["check"] for each in findings} == {"nobody-moves", "persistence"}
    for each in findings:
        # The command that shows it brings the certificates along.
        assert f"--tls --cacert {certificates.ca} --cert {certificates.client} --key" in each["shown_by"]
    with redis.Redis.from_url(server.url) as admin:
        assert admin.zcard("redisson_delay_queue_timeout:{orders}") == 1
    for given in ({"ssl_ca_certs": certificates.ca}, {}):
        assert main(["queues", "--url", f"rediss://localhost:{port}/0?{urlencode(given)}"]) == 69
        told = capsys.readouterr()
        assert (told.out, len(told.err.splitlines())) == ("", 1)
