"""An HTTP port that a command opens, such as for probes or metrics.

A port answers GET and HEAD from one thread, one request for each connection. A slow client cannot block it: a
connection has :data:`SECONDS` in all, a port has :data:`MOST` connections, and a newer one replaces the oldest. A
client that sends its request at once is answered, however many others are connected. The last descriptors of the
process are left for its other work. The header Host must be an address, or a name that no page of another site can
point here.
"""

from __future__ import annotations

import asyncio
import contextlib
import email.utils
import logging
import os
import re
import resource
import socket
import threading
from collections.abc import Awaitable, Callable, Iterable, Mapping
from http import HTTPStatus
from urllib.parse import urlsplit

import attrs

from redisson_dq._operations.hosts import host_in, is_inner, is_loopback
from redisson_dq.errors import RedissonDQError

__all__ = ["HEADROOM", "LONGEST_HEAD", "MOST", "SECONDS", "HttpAnswer", "Port", "Route"]

logger = logging.getLogger("redisson_dq")

#: How many connections a port has at a time.
MOST = 32
#: How long a connection may take in all, in seconds.
SECONDS = 5.0
#: The longest request line and headers that are read, in bytes.
LONGEST_HEAD = 8192
#: How many descriptors of the process are reserved for its other work. A port that reaches them has one connection.
HEADROOM = 16

# How long a port waits for a descriptor when it has no connection to close.
_NO_DESCRIPTOR = 0.1
# How much is read of a connection after its response, in pieces of 4 KB.
_LAST_PIECES = 16
_END_OF_HEAD = re.compile(rb"\r?\n\r?\n")
_REQUEST_LINE = re.compile(r"([A-Z]+) (\S+) HTTP/1\.[01]")


@attrs.frozen
class HttpAnswer:
    """A response. ``body`` is JSON unless ``type`` names another type."""

    status: HTTPStatus
    body: bytes
    type: str = "application/json"


#: The function that answers a path. It gets the request's headers by lower-case name, and runs in the port's loop, so
#: it must not block.
Route = Callable[[Mapping[str, str]], Awaitable[HttpAnswer]]


class Port:
    """Serves its routes, by path, from its creation until :meth:`close`."""

    def __init__(self, what: str, host: str, port: int, routes: Mapping[str, Route], hosts: Iterable[str] = ()) -> None:
        """``what`` is the port's name in errors. ``hosts`` are host names that clients may use, or ``*`` for any.

        Without them, a port of this machine answers to this machine's own names and addresses, and any other port to
        addresses, names without a dot and ``host``. Raises RedissonDQError when the port cannot be opened.
        """
        self._what, self._routes = what, routes
        self._hosts = frozenset(each.lower() for each in (*hosts, host.strip("[]")) if each)
        #: The tasks that serve connections, the oldest first.
        self._open: list[asyncio.Task[None]] = []
        #: The connections whose request was read and not answered yet.
        self._answering: set[asyncio.Task[None]] = set()
        with contextlib.ExitStack() as undo:
            try:
                self._listener = undo.enter_context(_listener(host, port))
                self._is_local = is_loopback(str(self._listener.getsockname()[0]))
                # A reserve to answer one connection when the process has no other descriptor.
                self._spare: int | None = os.dup(self._listener.fileno())
                undo.callback(os.close, self._spare)
                # The standard loop, whichever loop the user's program prefers.
                self._loop = asyncio.SelectorEventLoop()
                undo.callback(self._loop.close)
                self._thread = threading.Thread(target=self._run, name=f"redisson_dq-{what}", daemon=True)
                self._accepting = self._loop.create_task(self._accept())
                self._thread.start()
            # A host name may be no name at all (UnicodeError), and there may be no more threads (RuntimeError).
            except (OSError, UnicodeError, RuntimeError) as error:
                raise RedissonDQError(f"the {what} port {host}:{port} cannot be opened: {error}") from error
            undo.pop_all()

    @property
    def number(self) -> int:
        """The port, also where 0 left the choice to the system."""
        return int(self._listener.getsockname()[1])

    def close(self) -> None:
        """Closes the port and every connection."""
        self._loop.call_soon_threadsafe(self._accepting.cancel)
        self._thread.join()
        self._loop.close()
        self._listener.close()
        if self._spare is not None:
            os.close(self._spare)

    def _run(self) -> None:
        with contextlib.suppress(asyncio.CancelledError):
            self._loop.run_until_complete(self._accepting)

    # -- connections -------------------------------------------------------------------------------------------------

    async def _accept(self) -> None:
        try:
            while True:
                # Without a free descriptor, accept fails even if nobody connects.
                await self._somebody_connects()
                try:
                    connection, _ = self._listener.accept()
                except BlockingIOError:
                    continue
                except OSError:
                    await self._free_a_descriptor()
                else:
                    self._begin(connection)
        finally:
            others = asyncio.all_tasks() - {self._accepting}
            for task in others:
                task.cancel()
            if others:
                await asyncio.wait(others)

    async def _somebody_connects(self) -> None:
        connects = asyncio.Event()
        self._loop.add_reader(self._listener, connects.set)
        try:
            await connects.wait()
        finally:
            self._loop.remove_reader(self._listener)

    def _begin(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        most = MOST if _leaves_headroom(connection.fileno()) else 1
        while len(self._open) >= most:
            self._drop_one()
        task = self._loop.create_task(self._converse(connection))
        self._open.append(task)
        timer = self._loop.call_later(SECONDS, task.cancel)

        def ended(_: object) -> None:
            timer.cancel()
            connection.close()
            if task in self._open:
                self._open.remove(task)
            if self._spare is None:
                with contextlib.suppress(OSError):
                    self._spare = os.dup(self._listener.fileno())

        task.add_done_callback(ended)

    def _drop_one(self) -> asyncio.Task[None]:
        """Closes the oldest connection. Connections that are being answered are closed last."""
        task = next((each for each in self._open if each not in self._answering), self._open[0])
        self._open.remove(task)
        task.cancel()
        return task

    async def _free_a_descriptor(self) -> None:
        """Makes room for a new connection when none is free."""
        if not self._answering.issuperset(self._open):
            await asyncio.wait([self._drop_one()])
        elif self._spare is not None:
            os.close(self._spare)
            self._spare = None
        else:
            await asyncio.sleep(_NO_DESCRIPTOR)

    async def _converse(self, connection: socket.socket) -> None:
        task = asyncio.current_task()
        assert task is not None
        with contextlib.suppress(OSError):
            head = await self._head(connection)
            if head is None:
                return
            self._answering.add(task)
            try:
                await self._loop.sock_sendall(connection, await self._answered(head))
            finally:
                self._answering.remove(task)
            connection.shutdown(socket.SHUT_WR)
            # Closing with unread data resets the connection, and the response might be lost.
            for _ in range(_LAST_PIECES):
                if not await self._loop.sock_recv(connection, 4096):
                    return

    async def _head(self, connection: socket.socket) -> bytes | None:
        """The request line and the headers, or more than is read of them. None when the client has left."""
        head = b""
        while _END_OF_HEAD.search(head) is None and len(head) <= LONGEST_HEAD:
            data = await self._loop.sock_recv(connection, 4096)
            if not data:
                return None
            head = (head + data).lstrip(b"\r\n")
        return head

    # -- answers -----------------------------------------------------------------------------------------------------

    async def _answered(self, head: bytes) -> bytes:
        line = head.partition(b"\n")[0].rstrip(b"\r").decode("latin-1")
        answer = await self._answer(line, head)
        words = [
            f"HTTP/1.1 {answer.status.value} {answer.status.phrase}",
            f"Date: {email.utils.formatdate(usegmt=True)}",
            f"Content-Type: {answer.type}",
            f"Content-Length: {len(answer.body)}",
            "Cache-Control: no-store",
            # Further requests of the connection are not answered, and a client sends them again over another one.
            "Connection: close",
        ]
        if answer.status is HTTPStatus.METHOD_NOT_ALLOWED:
            words.append("Allow: GET, HEAD")
        body = b"" if line.startswith("HEAD ") else answer.body
        return "\r\n".join([*words, "", ""]).encode() + body

    async def _answer(self, line: str, head: bytes) -> HttpAnswer:
        if len(head) > LONGEST_HEAD and _END_OF_HEAD.search(head[:LONGEST_HEAD]) is None:
            return _error(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, f"at most {LONGEST_HEAD} bytes are read")
        found = _REQUEST_LINE.fullmatch(line)
        if found is None:
            return _error(HTTPStatus.BAD_REQUEST, "this is not a request of HTTP/1.0 or HTTP/1.1")
        if found[1] not in ("GET", "HEAD"):
            return _error(HTTPStatus.METHOD_NOT_ALLOWED, "only GET and HEAD are served")
        headers = _headers(head)
        try:
            target = urlsplit(found[2])
        except ValueError:
            return self._not_found()
        # A request without the header is no browser's. Of two of them a proxy may have looked at the other one.
        for named in (*headers.get("host", []), *([target.netloc] if target.netloc else [])):
            if not self._is_allowed(host_in(named)):
                return _error(HTTPStatus.FORBIDDEN, "this host is not allowed: give the command --allow-host NAME")
        route = self._routes.get(target.path)
        if route is None:
            return self._not_found()
        try:
            return await route({name: values[-1] for name, values in headers.items()})
        except Exception:
            logger.exception("the %s port cannot answer %s", self._what, line)
            return _error(HTTPStatus.INTERNAL_SERVER_ERROR, "see the log")

    def _not_found(self) -> HttpAnswer:
        return _error(HTTPStatus.NOT_FOUND, f"there are {' and '.join(self._routes)}")

    def _is_allowed(self, name: str) -> bool:
        if name in self._hosts or "*" in self._hosts:
            return True
        return is_loopback(name) if self._is_local else is_inner(name)


def _error(status: HTTPStatus, text: str) -> HttpAnswer:
    return HttpAnswer(status, b'{"error": "%s"}\n' % text.encode())


def _headers(head: bytes) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for line in head.decode("latin-1").split("\n")[1:]:
        name, _, value = line.partition(":")
        found.setdefault(name.strip().lower(), []).append(value.strip())
    return found


def _leaves_headroom(descriptor: int) -> bool:
    """Whether enough descriptors above this one are left. The system always gives the lowest one that is free."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return limit == resource.RLIM_INFINITY or descriptor < limit - HEADROOM


def _listener(host: str, port: int) -> socket.socket:
    """A socket that listens at an address, or at the address of a name. "::" takes IPv4 too on most systems."""
    found = socket.getaddrinfo(host.strip("[]") or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    # For a name with both kinds of addresses, IPv4 is used.
    family, kind, protocol, _, address = min(found, key=lambda each: each[0] is not socket.AF_INET)
    made = socket.socket(family, kind, protocol)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen()
        made.setblocking(False)
    except OSError:
        made.close()
        raise
    return made
