"""Ask a starting server, over one short raw connection, whether it answers and who it is."""

from __future__ import annotations

import socket
from pathlib import Path

import attrs

__all__ = ["LOOPBACK", "Address", "ServerInfo", "free_port", "probe"]

#: A loopback TCP port, or the path of a unix socket.
Address = int | Path

LOOPBACK = "127.0.0.1"


@attrs.frozen(kw_only=True)
class ServerInfo:
    """``name`` is ``Redis`` or ``Valkey``. ``version`` is the server's own version, not the Redis version that it is
    compatible with.
    """

    name: str
    version: str
    pid: int


def free_port() -> int:
    """A loopback port that was free a moment ago."""
    with socket.socket() as listener:
        listener.bind((LOOPBACK, 0))
        port: int = listener.getsockname()[1]
        return port


def probe(address: Address, *, password: str | None = None, timeout: float = 0.25) -> ServerInfo | None:
    """The server that answers PING at this address. None while no server answers, or while it still loads its data.

    Takes at most about ``timeout`` seconds.
    """
    request, simple_replies = b"PING\r\nINFO server\r\n", 1
    if password is not None:
        secret = password.encode()
        request = b"*2\r\n$4\r\nAUTH\r\n$%d\r\n%s\r\n" % (len(secret), secret) + request
        simple_replies = 2
    try:
        with _connect(address, timeout) as connection, connection.makefile("rb") as replies:
            connection.sendall(request)
            if not all(replies.readline().startswith(b"+") for _ in range(simple_replies)):
                return None
            header = replies.readline()
            return _parse(replies.read(int(header[1:]))) if header.startswith(b"$") else None
    except (OSError, ValueError):  # ValueError: the program that listens there is no Redis
        return None


def _connect(address: Address, timeout: float) -> socket.socket:
    if isinstance(address, int):
        return socket.create_connection((LOOPBACK, address), timeout)
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(timeout)
    try:
        connection.connect(str(address))
    except OSError:
        connection.close()
        raise
    return connection


def _parse(info: bytes) -> ServerInfo | None:
    fields = dict(line.split(":", 1) for line in info.decode(errors="replace").splitlines() if ":" in line)
    version = fields.get("valkey_version")
    if "process_id" not in fields:
        return None
    return ServerInfo(
        name="Valkey" if version else "Redis",
        version=version or fields.get("redis_version", "?"),
        pid=int(fields["process_id"]),
    )
