"""TLS with certificates on both sides, for all connections of a client."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import redis

from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import RedisConnectionError
from redisson_dq.testing import server_of_tests
from tests.conftest import PATIENCE, eventually
from tests.flavours import Flavour
from tests.security.conftest import Certificates, serving


def _options(certificates: Certificates, who: str = "client") -> dict[str, Any]:
    return {
        "codec": StringCodec(),
        "ssl_ca_certs": certificates.ca,
        "ssl_certfile": getattr(certificates, who),
        "ssl_keyfile": getattr(certificates, f"{who}_key"),
    }


def test_a_client_with_a_certificate(
    flavour: Flavour, tls_server: tuple[EmbeddedServer, int], certificates: Certificates
) -> None:
    server, port = tls_server
    with (
        ThreadPoolExecutor(1) as thread,
        redis.Redis.from_url(server.url) as admin,
        flavour.connect(f"rediss://localhost:{port}/0", **_options(certificates)) as client,
    ):
        queue, delayed = client.blocking_queue("orders"), client.delayed_queue("orders")
        waiting = thread.submit(queue.take)
        eventually(lambda: admin.info("clients")["blocked_clients"] == 1)
        delayed.offer("order-42", delay=0.05)
        assert waiting.result(PATIENCE) == "order-42"
        assert queue.poll(timeout=0.6) is None
        assert queue.poll(5, timeout=0.1) == []


def test_a_file_of_redissons_settings(
    flavour: Flavour, tls_server: tuple[EmbeddedServer, int], certificates: Certificates
) -> None:
    _, port = tls_server
    config = {
        "singleServerConfig": {
            "address": f"rediss://localhost:{port}",
            "sslTruststore": f"file:{certificates.ca}",
            "sslProtocols": ["TLSv1.3", "TLSv1.2"],
        }
    }
    options = {name: value for name, value in _options(certificates).items() if name != "ssl_ca_certs"}
    with flavour.connect(None, redisson_config=config, **options) as client:
        queue = client.blocking_queue("settings")
        client.delayed_queue(queue).offer("order-42", delay=0.05)
        assert queue.take() == "order-42"


def test_the_kit_for_tests_names_the_remedy_for_a_certificate_that_nobody_knows(
    tls_server: tuple[EmbeddedServer, int],
) -> None:
    url = f"rediss://localhost:{tls_server[1]}/0"
    refused = pytest.raises(RedisConnectionError, match="; the option ssl_ca_certs of the URL names the file of its")
    with refused, server_of_tests(url):
        raise AssertionError("it was let in")


@pytest.mark.parametrize("who", ["nobody", "stranger"])
def test_whoever_cannot_show_a_certificate_is_kept_out(
    flavour: Flavour, tls_server: tuple[EmbeddedServer, int], certificates: Certificates, who: str
) -> None:
    _, port = tls_server
    options = _options(certificates, "client" if who == "nobody" else who)
    if who == "nobody":
        del options["ssl_certfile"], options["ssl_keyfile"]
    with pytest.raises(RedisConnectionError), flavour.connect(f"rediss://localhost:{port}/0", **options):
        raise AssertionError("it was let in")


_REFUSED = {
    "elsewhere": r"certificate is not valid for 'localhost'",
    "over": r"certificate has expired",
    "of another authority": r"self.signed certificate in certificate chain|unable to get local issuer",
}


@pytest.mark.parametrize("what", _REFUSED)
def test_a_server_that_is_not_the_right_one_is_not_talked_to(
    flavour: Flavour, certificates: Certificates, what: str
) -> None:
    """The error says what is wrong with its certificate, and no password."""
    options = _options(certificates)
    if what == "of another authority":
        options["ssl_ca_certs"] = str(certificates.directory / "strangers-ca.crt")
    with (
        serving(certificates, what if what in ("elsewhere", "over") else "server") as (_, port),
        pytest.raises(RedisConnectionError, match=_REFUSED[what]) as caught,
        flavour.connect(f"rediss://user:secret-word@localhost:{port}/0", **options),
    ):
        raise AssertionError("it was talked to")
    assert "secret-word" not in f"{caught.value!r} {caught.value} {caught.value.__cause__!r}"
