"""TLS with certificates on both sides, for all connections of a client."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import redis

from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import RedisConnectionError
from tests.conftest import PATIENCE, eventually
from tests.flavours import Flavour
from tests.security.conftest import Certificates


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


@pytest.mark.parametrize("kind", ["none", "stranger", "other host", "other authority"])
def test_whoever_cannot_show_one_is_kept_out(
    flavour: Flavour, tls_server: tuple[EmbeddedServer, int], certificates: Certificates, kind: str
) -> None:
    _, port = tls_server
    options = _options(certificates, "stranger" if kind == "stranger" else "client")
    if kind == "none":
        del options["ssl_certfile"], options["ssl_keyfile"]
    if kind == "other authority":
        options["ssl_ca_certs"] = str(certificates.directory / "strangers-ca.crt")
    # The server's certificate is for localhost and 127.0.0.1.
    host = "127.0.0.2" if kind == "other host" else "localhost"
    with pytest.raises(RedisConnectionError), flavour.connect(f"rediss://{host}:{port}/0", **options):
        raise AssertionError("it was let in")
