"""The faults as a test calls them."""

from __future__ import annotations

import contextlib
import difflib
import sys
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import redis

from redisson_dq._redis import without_password
from redisson_dq.embedded import EmbeddedServer
from redisson_dq.errors import ArgumentError
from redisson_dq.scheduling import clock as _clock
from redisson_dq.scripts.script import names
from redisson_dq.testing._entered import OnlyWith, entered, refuse_if_dropped
from redisson_dq.testing._server import ServerOfTests
from redisson_dq.testing.faults._commands import Trap, What, Where, is_known
from redisson_dq.testing.faults._proxy import Proxy

__all__ = ["Faults"]

_ALWAYS = sys.maxsize
# A pause ends by itself after this many ms.
_PAUSE_MS = 60_000


class Faults(OnlyWith):
    """A place between clients and their Redis where a test makes faults. A context manager, in coroutines too.

    - ``server``: that of the tests, from :func:`server_of_tests` or an EmbeddedServer

    Clients connect to :attr:`url`. A test clock gets the URL of the server itself, so it keeps working during a fault.

    A fault that is a context manager ends with it. ``at`` names a command of Redis (``"BLPOP"``) or a script of this
    library: ``"offer"`` is any script whose name begins with that word, ``"offer.lua"`` only that script
    (docs/scripts.md lists them). Such a fault raises AssertionError at its end if no such command came.

    For example::

        with Faults(server) as faults, redisson_dq.connect(faults.url) as client:
            with faults.down():
                ...
    """

    def __init__(self, server: ServerOfTests | EmbeddedServer) -> None:
        if not isinstance(server, (ServerOfTests, EmbeddedServer)):
            raise ArgumentError(
                f"Faults() needs the server of server_of_tests() or an EmbeddedServer, not {without_password(server)!r}"
            )
        parts = urlsplit(server.url)
        if parts.scheme != "redis" or parts.hostname is None:
            raise ArgumentError(f"{without_password(server.url)}: faults need a Redis on TCP, without TLS")
        self._server = server
        self._host, self._port = parts.hostname, parts.port or 6379
        self._ends = contextlib.ExitStack()
        refuse_if_dropped("Faults(server)", sys._getframe(1))

    def __enter__(self) -> Faults:
        with contextlib.ExitStack() as stack:
            self._admin: Any = stack.enter_context(
                redis.Redis.from_url(self._server.url, protocol=2, decode_responses=True)
            )
            self._proxy = stack.enter_context(Proxy(lambda: self._port, host=self._host))
            self._ends = stack.pop_all()
        return self

    def __exit__(self, *error: object) -> None:
        self._ends.close()

    @property
    def url(self) -> str:
        """The URL for clients, with the server's database, user and password."""
        parts = urlsplit(self._server.url)
        user, at, _ = parts.netloc.rpartition("@")
        return urlunsplit(parts._replace(netloc=f"{user}{at}127.0.0.1:{self._proxy.port}"))

    # -- connections -------------------------------------------------------------------------------------------------

    def cut(self) -> None:
        """Closes all connections. New ones work."""
        self._proxy.cut()

    def silence(self) -> None:
        """Lets nothing through the connections that exist, as behind a pulled cable. New ones work."""
        self._proxy.silence()

    def kill(self, at: str | None = None) -> int:
        """Lets Redis kill the connections, or those whose last command is ``at``. Returns their number.

        For example ``faults.kill("BLPOP")``.
        """
        ours = {link.server_address for link in self._proxy.links()}
        found = [
            each["id"]
            for each in self._admin.client_list()
            if each["addr"] in ours and (at is None or each["cmd"].split("|")[0] == at.lower())
        ]
        return sum(int(self._admin.client_kill_filter(_id=each)) for each in found)

    @entered
    @contextlib.contextmanager
    def down(self) -> Iterator[None]:
        """Redis cannot be reached: connections are closed, and new ones fail."""
        self._proxy.refusing = True
        self._proxy.cut()
        try:
            yield
        finally:
            self._proxy.refusing = False

    @entered
    @contextlib.contextmanager
    def frozen(self) -> Iterator[None]:
        """Nothing is answered, and connections stay open. At the end everything continues.

        A test clock can advance meanwhile. Replies time out by it.
        """
        self._proxy.freeze()
        try:
            yield
        finally:
            self._proxy.melt()

    @entered
    @contextlib.contextmanager
    def delayed(self, seconds: float) -> Iterator[None]:
        """Replies take this many seconds of real time longer."""
        before, self._proxy.delay = self._proxy.delay, seconds
        try:
            yield
        finally:
            self._proxy.delay = before

    # -- commands ----------------------------------------------------------------------------------------------------

    @entered
    def frozen_at(self, at: str) -> contextlib.AbstractContextManager[Trap]:
        """Holds such a command, and everything after it on its connection. At the end they continue."""
        return self._at(at, "command", "freeze", _ALWAYS)

    @entered
    def delayed_at(self, at: str, seconds: float) -> contextlib.AbstractContextManager[Trap]:
        """Replies to such commands take this many seconds of real time longer."""
        return self._at(at, "reply", "delay", _ALWAYS, seconds=seconds)

    @entered
    def cut_at(self, at: str, *, times: int = 1) -> contextlib.AbstractContextManager[Trap]:
        """Closes the connection when such a command comes, which never reaches Redis."""
        return self._at(at, "command", "cut", times)

    @entered
    def lost_reply(self, at: str, *, times: int = 1) -> contextlib.AbstractContextManager[Trap]:
        """Closes the connection when such a command was done, and its reply is lost."""
        return self._at(at, "reply", "cut", times)

    @entered
    def refused(
        self, at: str, error: str = "ERR refused by a test", *, times: int | None = None
    ) -> contextlib.AbstractContextManager[Trap]:
        """Answers such commands with that error of Redis. They do nothing.

        For example ``faults.refused("ack", "READONLY You can't write against a read only replica.")``.
        """
        if not error or not error.isprintable():
            raise ArgumentError(f"refused(): an error of one line, such as 'ERR no', not {error!r}")
        return self._at(at, "command", "refuse", _ALWAYS if times is None else times, answer=f"-{error}\r\n".encode())

    @contextlib.contextmanager
    def _at(self, at: str, where: Where, what: What, times: int, **options: Any) -> Iterator[Trap]:
        if not is_known(at):
            near = difflib.get_close_matches(at, names(), 3)
            raise ArgumentError(
                f"no script is called {at!r}"
                + (f" (there is {', '.join(near)})" if near else "")
                + "; commands of Redis are in capitals, such as BLPOP"
            )
        self._proxy.came.clear()
        trap = self._proxy.trap(at, where, what, times=times, **options)
        try:
            yield trap
        finally:
            self._proxy.remove(trap)
        if not trap.count:
            came = ", ".join(dict.fromkeys(self._proxy.came)) or "nothing"
            raise AssertionError(f"no command {at!r} came, so nothing went wrong; there came: {came}")

    # -- the server --------------------------------------------------------------------------------------------------

    @entered
    @contextlib.contextmanager
    def full(self) -> Iterator[None]:
        """Redis has no memory left, and evicts nothing: it refuses commands that need some. For all its clients."""
        settings = ("maxmemory", "maxmemory-policy")
        before = {name: self._admin.config_get(name)[name] for name in settings}
        self._admin.config_set("maxmemory-policy", "noeviction")
        self._admin.config_set("maxmemory", 1)
        try:
            yield
        finally:
            for name in settings:
                self._admin.config_set(name, before[name])

    @entered
    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Redis delays all writes, including scripts (``CLIENT PAUSE``), for all its clients.

        Raises ArgumentError under a test clock, which would stop too. Use ``frozen()`` there.
        """
        if _clock.current() is not _clock.SYSTEM:
            raise ArgumentError("a pause would stop the test's clock, as it writes into Redis too; use frozen()")
        self._admin.execute_command("CLIENT", "PAUSE", _PAUSE_MS, "WRITE")
        try:
            yield
        finally:
            self._admin.execute_command("CLIENT", "UNPAUSE")

    def restart(self) -> None:
        """Stops Redis, and starts it again with all its data, as with ``appendonly``.

        Raises ArgumentError for a server that was started elsewhere. Use ``down()`` for those.
        """
        embedded = self._server if isinstance(self._server, EmbeddedServer) else self._server.embedded
        if embedded is None:
            raise ArgumentError(
                f"{without_password(self._server.url)} was not started by the tests, so they cannot restart it; "
                "use down()"
            )
        self._admin.save()
        embedded.restart()
