"""Redis forgets what a connection has asked to hear of, after RESET, and reports nothing.

Probes of the connection find it.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest
import redis

from redisson_dq.codecs import StringCodec
from redisson_dq.embedded import EmbeddedServer
from tests.conftest import PATIENCE, eventually
from tests.flavours import Flavour

# More queues than have a connection of their own.
NAMES = [f"queue{number}" for number in range(10)]
_RESET = b"*1\r\n$5\r\nRESET\r\n"


class Resetting:
    """A proxy that may send RESET to the server, and keeps the answer to itself."""

    def __init__(self, port: int) -> None:
        self._up = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._servers: dict[socket.socket, bytes] = {}
        self._clients: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._begin(self._accept)

    def reset(self, word: bytes) -> None:
        """Resets the connections on which the client has said ``word``."""
        for server, said in list(self._servers.items()):
            if word in said:
                server.sendall(_RESET)

    def close(self) -> None:
        for each in (self._listener, *self._servers, *self._clients):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(PATIENCE)
        for each in (self._listener, *self._servers, *self._clients):
            each.close()

    def _begin(self, work: Callable[..., None], *arguments: Any) -> None:
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(("127.0.0.1", self._up))
                self._servers[server] = b""
                self._clients.append(client)
                self._begin(self._forward, client, server)
                self._begin(self._forward, server, client)

    def _forward(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if target in self._servers:
                    self._servers[target] += data
                target.sendall(data.replace(b"+RESET\r\n", b""))
        for each in (source, target):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)


@pytest.fixture
def server() -> Iterator[EmbeddedServer]:
    with EmbeddedServer() as made:
        yield made


@pytest.fixture
def admin(server: EmbeddedServer) -> Iterator[Any]:
    with redis.Redis.from_url(server.url) as made:
        yield made


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(len(NAMES)) as made:
        yield made


def watched(admin: Any) -> None:
    eventually(lambda: int(admin.info("stats")["tracking_total_keys"]) == len(NAMES) - 8)


def heard(admin: Any) -> None:
    eventually(lambda: len(admin.pubsub_channels("redisson_delay_queue_channel*")) == len(NAMES))


@pytest.mark.parametrize("forgets", ["TRACKING", pytest.param("SUBSCRIBE", marks=pytest.mark.nightly)])
def test_what_a_reset_has_ended_begins_again(
    flavour: Flavour, server: EmbeddedServer, admin: Any, threads: ThreadPoolExecutor, forgets: str
) -> None:
    proxy = Resetting(server.port or 0)
    with flavour.connect(f"redis://127.0.0.1:{proxy.port}/0", codec=StringCodec(), probe_interval=0.3) as client:
        waiting = [threads.submit(client.blocking_queue(name).take) for name in NAMES]
        watched(admin)
        heard(admin)
        proxy.reset(forgets.encode())
        if forgets == "SUBSCRIBE":
            eventually(lambda: not admin.pubsub_channels())
            heard(admin)
        for name in NAMES:
            admin.rpush(name, name)
        assert [each.result(PATIENCE) for each in waiting] == NAMES
    proxy.close()
