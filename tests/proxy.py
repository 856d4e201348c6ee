"""A TCP proxy whose connections can go silent, as behind a pulled cable, or be cut."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from types import TracebackType

__all__ = ["Proxy"]


class Proxy:
    """Forwards ``url`` to the server at ``port`` until told otherwise. Replies take ``delay`` seconds more."""

    def __init__(self, port: int, delay: float = 0.0) -> None:
        self._server_port = port
        self._delay = delay
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._silent: set[socket.socket] = set()
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self._listener.getsockname()[1]}/0"

    def silence(self, *, replies_only: bool = False) -> None:
        """From now on nothing passes through the connections that exist; they stay open. New ones work."""
        for client, server in self._pairs:
            self._silent.update((server,) if replies_only else (client, server))

    def cut(self) -> None:
        """Closes the connections that exist. New ones work."""
        for pair in self._pairs:
            for sock in pair:
                with contextlib.suppress(OSError):
                    sock.shutdown(socket.SHUT_RDWR)

    def __enter__(self) -> Proxy:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                server = socket.create_connection(("127.0.0.1", self._server_port))
                for sock in (client, server):
                    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._pairs.append((client, server))
                for source, target, delay in ((client, server, 0.0), (server, client, self._delay)):
                    threading.Thread(target=self._forward, args=(source, target, delay), daemon=True).start()

    def _forward(self, source: socket.socket, target: socket.socket, delay: float) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                time.sleep(delay)
                if source not in self._silent:
                    target.sendall(data)
            target.shutdown(socket.SHUT_RDWR)
        source.close()
