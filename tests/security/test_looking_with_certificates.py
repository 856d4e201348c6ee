"""The commands that look, on a server that wants certificates, and whoever has none is told so."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import pytest
import redis

import redisson_dq
from redisson_dq.cli import main
from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from tests.conftest import PROGRAMS, by_night, eventually
from tests.security.conftest import Certificates

LOOKS = (
    *("queues", "stats orders", "list orders", "list orders --filter 'id = a'", "show orders a", "peek orders"),
    *("watch orders --count 1", "dead list orders", "quarantine list orders", "undecodable list orders"),
)


def files_of(certificates: Certificates) -> str:
    """The options of a URL for a client that has a certificate."""
    files = {
        "ssl_ca_certs": certificates.ca,
        "ssl_certfile": certificates.client,
        "ssl_keyfile": certificates.client_key,
    }
    return urlencode(files)


def looked_at(url: str, certificates: Certificates, capsys: pytest.CaptureFixture[str]) -> None:
    """Each look at one item, and the doctor."""
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


def test_each_look_and_the_doctor(
    tls_server: tuple[EmbeddedServer, int], certificates: Certificates, capsys: pytest.CaptureFixture[str]
) -> None:
    server, port = tls_server
    looked_at(f"rediss://localhost:{port}/0?{files_of(certificates)}", certificates, capsys)
    with redis.Redis.from_url(server.url) as admin:
        assert admin.zcard("redisson_delay_queue_timeout:{orders}") == 1
    for given in ({"ssl_ca_certs": certificates.ca}, {}):
        assert main(["queues", "--url", f"rediss://localhost:{port}/0?{urlencode(given)}"]) == 69
        told = capsys.readouterr()
        assert (told.out, len(told.err.splitlines())) == ("", 1)


@pytest.fixture
def tls_sentinel(tls_server: tuple[EmbeddedServer, int], certificates: Certificates, tmp_path: Path) -> Iterator[int]:
    """The port of a Sentinel that speaks TLS alone, as the master does that it watches."""
    program = PROGRAMS["redis"]()
    with EmbeddedServer(program=program) as free:
        port = free.port
    config = tmp_path / "sentinel.conf"
    config.write_text(
        f"port 0\ntls-port {port}\nbind 127.0.0.1\ndir {tmp_path}\ntls-replication yes\n"
        f"tls-cert-file {certificates.server}\ntls-key-file {certificates.server_key}\n"
        f"tls-ca-cert-file {certificates.ca}\ntls-auth-clients yes\n"
        f"sentinel monitor main 127.0.0.1 {tls_server[1]} 1\n"
    )
    command = [str(program.path), str(config), "--sentinel"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            with redis.Redis.from_url(f"rediss://127.0.0.1:{port}?{files_of(certificates)}") as sentinel:
                eventually(lambda: _knows_its_master(sentinel))
            assert port is not None
            yield port
        finally:
            process.terminate()


def _knows_its_master(sentinel: redis.Redis) -> bool:
    try:
        return "main" in sentinel.sentinel_masters()
    except redis.ConnectionError:
        return False


def test_a_sentinel_with_certificates(
    tls_sentinel: int, certificates: Certificates, capsys: pytest.CaptureFixture[str]
) -> None:
    looked_at(f"rediss+sentinel://127.0.0.1:{tls_sentinel}/main?{files_of(certificates)}", certificates, capsys)


def test_a_sentinel_with_certificates_and_a_password(
    tls_sentinel: int, certificates: Certificates, capsys: pytest.CaptureFixture[str]
) -> None:
    files = files_of(certificates)
    with redis.Redis.from_url(f"rediss://127.0.0.1:{tls_sentinel}?{files}") as sentinel:
        sentinel.execute_command("ACL", "SETUSER", "default", "resetpass", ">hush")
    url = f"rediss+sentinel://127.0.0.1:{tls_sentinel}/main?{files}"
    assert main(["queues", "--url", f"{url}&sentinel_password=hush"]) == 0
    capsys.readouterr()
    for given in (url, f"{url}&sentinel_password=wrong"):
        assert main(["queues", "--url", given]) == 69
        told = capsys.readouterr().err
        assert "a Sentinel refused the login: pass its password in the URL as sentinel_password=" in told
        assert "without TLS" not in told


@pytest.mark.parametrize("words", ["queues", by_night("offer orders 1")])
def test_tls_on_one_side_alone(
    tls_server: tuple[EmbeddedServer, int], certificates: Certificates, capsys: pytest.CaptureFixture[str], words: str
) -> None:
    server, port = tls_server
    for url, remedy in (
        (f"redis://localhost:{port}/0", "rediss://"),
        (f"rediss://localhost:{server.port}/0?{files_of(certificates)}", "redis://"),
        (f"rediss://localhost:{port}/0?{urlencode({'ssl_ca_certs': certificates.client})}", "ssl_ca_certs"),
    ):
        assert main([*words.split(), "--url", url]) == 69
        (line,) = capsys.readouterr().err.splitlines()
        assert remedy in line
