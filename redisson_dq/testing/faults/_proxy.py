"""A TCP proxy that reads each message: it cuts, delays, freezes or refuses, at a named command or at its reply."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import TypeVar

from redisson_dq.scheduling.clock import SYSTEM
from redisson_dq.testing._held import announce
from redisson_dq.testing.faults._commands import REFUSED, Command, Trap, What, Where, read_scripts
from redisson_dq.testing.faults._link import Link

__all__ = ["Proxy"]

_LOOPBACK = "127.0.0.1"
# How many commands are named when a trap has not sprung.
_REMEMBERED = 12

Self = TypeVar("Self", bound="Proxy")


class Proxy:
    """Forwards everything to the server at ``port()``, except for faults. Replies take ``delay`` seconds longer."""

    def __init__(self, port: Callable[[], int], *, host: str = _LOOPBACK, delay: float = 0.0) -> None:
        self._host, self._server_port = host, port
        #: In seconds.
        self.delay = delay
        self._listener = socket.create_server((_LOOPBACK, 0), backlog=256)
        self.port: int = self._listener.getsockname()[1]
        self.mutex = threading.Lock()
        self.refusing = False
        #: The last commands, by name.
        self.came: deque[str] = deque(maxlen=_REMEMBERED)
        self._traps: list[Trap] = []
        self._frozen: list[Trap] = []
        self._links: set[Link] = set()
        self._open = threading.Event()
        self._open.set()
        read_scripts()
        announce(self)
        threading.Thread(target=self._accept, name="faults", daemon=True).start()

    @property
    def url(self) -> str:
        return f"redis://{_LOOPBACK}:{self.port}/0"

    @property
    def is_frozen(self) -> bool:
        return not self._open.is_set()

    def trap(
        self,
        command: str,
        where: Where,
        what: What,
        *,
        times: int = 1,
        seconds: float = 0.2,
        answer: bytes = REFUSED,
        queued: bool = False,
    ) -> Trap:
        """Sets a trap, which springs ``times`` times."""
        made = Trap(command, where, what, times, seconds, answer, queued)
        with self.mutex:
            self._traps.append(made)
        return made

    def remove(self, trap: Trap) -> None:
        """Removes a trap, and releases the commands that it has frozen."""
        with self.mutex:
            self._traps = [each for each in self._traps if each is not trap]
            self._frozen = [each for each in self._frozen if each is not trap]
        trap.thawed.set()

    def clear(self) -> None:
        """Removes the traps that have not sprung, and lets everything through again."""
        with self.mutex:
            self._traps.clear()
        self.refusing = False
        self._open.set()
        self.thaw()

    def thaw(self) -> None:
        """Releases commands that a trap has frozen."""
        with self.mutex:
            for trap in self._frozen:
                trap.thawed.set()
            self._frozen.clear()

    def cut(self) -> None:
        """Closes the connections that exist. New ones work."""
        for link in self.links():
            link.end("proxy")

    def silence(self, *, replies_only: bool = False) -> None:
        """From now on nothing passes through the connections that exist. They stay open, and new ones work."""
        for link in self.links():
            link.silence(replies_only=replies_only)

    def freeze(self) -> None:
        """From now on nothing passes in either direction. :meth:`clear` ends that."""
        self._open.clear()

    def melt(self) -> None:
        """Ends :meth:`freeze`. Traps stay."""
        self._open.set()

    def wait_open(self) -> None:
        self._open.wait()

    def links(self) -> list[Link]:
        """The connections that exist."""
        with self.mutex:
            return list(self._links)

    def settle(self) -> None:
        """Waits until it is known which replies were lost with each broken connection."""
        deadline = SYSTEM.monotonic() + 10
        while any(link.is_broken for link in self.links()) and SYSTEM.monotonic() < deadline:
            time.sleep(0.005)

    def reply_lost(self, command: Command, reply: bytes | None, ended_by: str) -> None:
        """Records a reply that never reached its client. ``reply`` is None if it did not reach the proxy either.

        A subclass that keeps a ledger overrides this.
        """

    def passed(self, address: object) -> tuple[int, bool] | None:
        """How many replies of a client's connection went through, and whether none does at present."""
        return next((link.passed for link in self.links() if link.address == address), None)

    def springs(self, command: Command, where: Where) -> Trap | None:
        """The trap that this command, or its reply, springs."""
        with self.mutex:
            for trap in self._traps:
                if trap.where == where and trap.queued <= command.is_queued and command.is_called(trap.command):
                    if trap.what == "freeze":
                        trap.thawed.clear()
                        self._frozen.append(trap)
                    if trap.times == 1:
                        self._traps.remove(trap)
                    trap.happens()
                    return trap
        return None

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.clear()
        self.cut()

    def left(self, link: Link) -> None:
        with self.mutex:
            self._links.discard(link)

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                with contextlib.suppress(OSError):
                    self._link(client)

    def _link(self, client: socket.socket) -> None:
        """Raises OSError where the server cannot be reached, or the client has left again."""
        with contextlib.ExitStack() as stack:
            stack.enter_context(client)
            if self.refusing:
                raise ConnectionRefusedError
            server = stack.enter_context(socket.create_connection((self._host, self._server_port()), timeout=5))
            server.settimeout(None)
            link = Link(self, client, server)
            stack.pop_all()
        with self.mutex:
            self._links.add(link)
        link.start()
        if self.refusing:
            # That has begun since it was looked at, and its cut has not met this connection.
            link.end("proxy")
