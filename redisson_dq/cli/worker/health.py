"""Answers probes over HTTP: ``/live`` and ``/ready``."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import attrs

from redisson_dq.errors import RedissonDQError

__all__ = ["HealthServer", "Health"]


@attrs.frozen(kw_only=True)
class Health:
    """How the processes are. ``wanted`` is how many there should be, ``consuming`` how many receive values.

    ``problems`` says why some do not, where Redis can be reached.
    """

    wanted: int
    running: int
    consuming: int
    stopping: bool
    problems: tuple[str, ...] = ()

    @property
    def is_live(self) -> bool:
        """Whether anything is received. While it stops, what is in hand is work enough."""
        return self.stopping or self.consuming > 0

    @property
    def is_ready(self) -> bool:
        """Whether every process receives."""
        return not self.stopping and self.consuming >= self.wanted


class _HttpServer(ThreadingHTTPServer):
    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        # An IPv6 address, such as "::", which takes IPv4 too on most systems.
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        super().__init__(address, handler)


class HealthServer:
    """Serves the two paths in a thread of its own, from its making to :meth:`close`."""

    def __init__(self, host: str, port: int, health: Callable[[], Health]) -> None:
        """Raises RedissonDQError when the port cannot be had."""
        try:
            self._server = _HttpServer((host, port), _handler(health))
        except OSError as error:
            raise RedissonDQError(f"the health port {host}:{port} cannot be opened: {error}") from error
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, name="redisson_dq-health", daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        """The port, also where 0 left the choice to the system."""
        return int(self._server.server_address[1])

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


def _handler(health: Callable[[], Health]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        # A prober that sends nothing must not keep its thread.
        timeout = 5

        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            if path not in ("/live", "/ready"):
                self._answer(404, {"error": "there are /live and /ready"})
                return
            now = health()
            well = now.is_live if path == "/live" else now.is_ready
            self._answer(200 if well else 503, attrs.asdict(now))

        do_HEAD = do_GET

        def _answer(self, status: int, told: dict[str, Any]) -> None:
            body = json.dumps(told).encode() + b"\n"
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Probes come every few seconds, and are not worth a line."""

    return Handler
