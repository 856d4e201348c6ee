"""A TCP proxy that reads each message: it cuts, delays, freezes or refuses, at a named command or at its reply."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import TypeVar

from redisson_dq._clock import SYSTEM
from redisson_dq.testing._held import announce
from redisson_dq.testing.faults._commands import REFUSED, Command, Trap, What, Where, command_of
from redisson_dq.testing.faults._frames import Frames

__all__ = ["Proxy"]

_PUBSUB = (b"SUBSCRIBE", b"UNSUBSCRIBE", b"PSUBSCRIBE", b"PUNSUBSCRIBE", b"SSUBSCRIBE", b"SUNSUBSCRIBE")
# Redis did not know the script, and did nothing. The client sends its text then.
_NOT_DONE = b"-NOSCRIPT"

_LOOPBACK = "127.0.0.1"
# So many commands are named when a trap has not sprung.
_REMEMBERED = 12

Self = TypeVar("Self", bound="Proxy")


class Proxy:
    """Forwards everything to the server at ``port()`` until told otherwise. Replies take ``delay`` seconds more."""

    def __init__(self, port: Callable[[], int], *, host: str = _LOOPBACK, delay: float = 0.0) -> None:
        self._host, self._server_port = host, port
        #: In seconds.
        self.delay = delay
        self._listener = socket.create_server((_LOOPBACK, 0), backlog=256)
        self.port: int = self._listener.getsockname()[1]
        self.mutex = threading.Lock()
        self.refusing = False
        #: The last commands, by their names.
        self.came: deque[str] = deque(maxlen=_REMEMBERED)
        self._traps: list[Trap] = []
        self._frozen: list[Trap] = []
        self._links: set[_Link] = set()
        self._open = threading.Event()
        self._open.set()
        announce(self)
        threading.Thread(target=self._accept, name="faults", daemon=True).start()

    @property
    def url(self) -> str:
        return f"redis://{_LOOPBACK}:{self.port}/0"

    @property
    def is_frozen(self) -> bool:
        return not self._open.is_set()

    def trap(
        self, command: str, where: Where, what: What, *, times: int = 1, seconds: float = 0.2, answer: bytes = REFUSED
    ) -> Trap:
        """Sets a trap, which springs ``times`` times."""
        made = Trap(command, where, what, times, seconds, answer)
        with self.mutex:
            self._traps.append(made)
        return made

    def remove(self, trap: Trap) -> None:
        """Takes a trap away, and lets the commands go on that it has frozen."""
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
        """Lets commands go on that a trap has frozen."""
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

    def links(self) -> list[_Link]:
        """The connections that exist."""
        with self.mutex:
            return list(self._links)

    def settle(self) -> None:
        """Waits until it is known which replies were lost with each broken connection."""
        deadline = SYSTEM.monotonic() + 10
        while any(link.is_broken for link in self.links()) and SYSTEM.monotonic() < deadline:
            time.sleep(0.005)

    def reply_lost(self, command: Command, reply: bytes | None, ended_by: str) -> None:
        """Notes a reply that never reached its client. ``reply`` is None when nothing here has seen it either.

        That is the place of a class that keeps a ledger.
        """

    def passed(self, address: object) -> tuple[int, bool] | None:
        """How many replies of a client's connection went through, and whether none does at present."""
        return next((link.passed for link in self.links() if link.address == address), None)

    def springs(self, command: Command, where: Where) -> Trap | None:
        """The trap that this command, or its reply, walks into."""
        with self.mutex:
            for trap in self._traps:
                if trap.where == where and command.is_called(trap.command):
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

    def left(self, link: _Link) -> None:
        with self.mutex:
            self._links.discard(link)

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                try:
                    if self.refusing:
                        raise ConnectionRefusedError
                    server = socket.create_connection((self._host, self._server_port()), timeout=5)
                    server.settimeout(None)
                except OSError:
                    client.close()
                    continue
                link = _Link(self, client, server)
                with self.mutex:
                    self._links.add(link)
                link.start()


class _Link:
    """One connection and its counterpart.

    Where the client or this proxy breaks it, the server only hears that no more commands come. Its last answers are
    still read, so it is known which replies were lost.
    """

    def __init__(self, proxy: Proxy, client: socket.socket, server: socket.socket) -> None:
        self._proxy, self._client, self._server = proxy, client, server
        #: The client's.
        self.address = client.getpeername()
        #: By which the server knows it.
        self.server_address = "{}:{}".format(*server.getsockname())
        self._mutex = threading.Lock()
        # Held while a reply is forwarded.
        self._passing = threading.Lock()
        self._pending: deque[Command] = deque()
        self._is_subscribed = False
        # The commands of a transaction that has begun.
        self._queued: list[Command] | None = None
        self._ended_by = ""
        self._is_deaf = self._is_mute = False
        # How many replies went through, and how many threads wait at a trap.
        self._passed = self._held = 0
        for sock in (client, server):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def start(self) -> None:
        for work in (self._commands, self._replies):
            threading.Thread(target=work, name="faults-link", daemon=True).start()

    @property
    def is_broken(self) -> bool:
        return bool(self._ended_by)

    @property
    def passed(self) -> tuple[int, bool]:
        """How many replies went through, and whether none does at present."""
        is_held = self._proxy.is_frozen or self._held > 0 or self._is_mute or self._is_deaf
        return self._passed, is_held and not self._ended_by

    def silence(self, *, replies_only: bool) -> None:
        self._is_mute, self._is_deaf = True, self._is_deaf or not replies_only

    def end(self, by: str) -> None:
        """Breaks the connection. The first caller decides which side counts as the one that broke it."""
        with self._mutex:
            if self._ended_by:
                return
            self._ended_by = by
        with contextlib.suppress(OSError):
            self._client.shutdown(socket.SHUT_RDWR)
        with contextlib.suppress(OSError):
            self._server.shutdown(socket.SHUT_WR)

    # -- from the client ---------------------------------------------------------------------------------------------

    def _commands(self) -> None:
        frames = Frames()
        with contextlib.suppress(OSError):
            while data := self._client.recv(65536):
                for frame in frames.feed(data):
                    self._command(frame)
        self.end("client")

    def _command(self, frame: bytes) -> None:
        command = command_of(frame)
        self._queue(command)
        self._proxy.came.append(command.label)
        with self._mutex:
            self._is_subscribed = self._is_subscribed or command.name in _PUBSUB
        trap = self._proxy.springs(command, "command")
        self._spring(trap)
        self._proxy.wait_open()
        if trap is not None and trap.what == "refuse":
            command.answer = trap.answer
        with self._mutex:
            if self._ended_by:
                return
            if not self._is_subscribed:
                self._pending.append(command)
        if command.answer is not None:
            self._answer()
        elif not self._is_deaf:
            self._send(command, frame)

    def _send(self, command: Command, frame: bytes) -> None:
        trap = self._proxy.springs(command, "sent")
        if trap is not None and trap.what == "cut":
            # The reply comes at once, and must not get through before the end.
            with self._passing:
                self._server.sendall(frame)
                self._spring(trap)
        else:
            self._server.sendall(frame)
            self._spring(trap)

    def _queue(self, command: Command) -> None:
        """In a transaction the reply to EXEC has the results of the commands, and their own replies have none."""
        if command.name == b"MULTI":
            self._queued = []
        elif command.name == b"EXEC":
            command.transaction, self._queued = self._queued or [], None
        elif command.name == b"DISCARD":
            self._queued = None
        elif self._queued is not None:
            command.is_queued = True
            self._queued.append(command)

    # -- from the server ---------------------------------------------------------------------------------------------

    def _replies(self) -> None:
        frames, is_orderly = Frames(), False
        with contextlib.suppress(OSError):
            while data := self._server.recv(65536):
                if self._proxy.delay:
                    time.sleep(self._proxy.delay)
                for frame in frames.feed(data):
                    self._reply(frame)
            is_orderly = True
        self.end("server")
        for command in self._pending:
            # Redis may serve a blocked pop in the very moment in which it learns that the connection has ended, and
            # then it throws the reply away. Other commands were answered before.
            if self._ended_by == "server" or not is_orderly or command.blocks:
                self._proxy.reply_lost(command, None, self._ended_by)
        for sock in (self._client, self._server):
            sock.close()
        self._proxy.left(self)

    def _reply(self, frame: bytes) -> None:
        with self._mutex:
            command = self._pending.popleft() if self._pending and not self._is_subscribed else None
        rest = frame
        if command is not None and not self._ended_by and not frame.startswith(_NOT_DONE):
            self._spring(self._proxy.springs(command, "reply"))
            trap = self._proxy.springs(command, "half")
            if trap is not None and not self._ended_by:
                rest = frame[len(frame) // 2 :]
                with contextlib.suppress(OSError):
                    self._client.sendall(frame[: len(frame) // 2])
                self._spring(trap)
        self._proxy.wait_open()
        try:
            with self._passing:
                if self._ended_by:
                    raise BrokenPipeError
                if not self._is_mute:
                    self._pass(rest, is_reply=command is not None)
        except OSError:
            self.end("client")
            if command is not None:
                self._proxy.reply_lost(command, frame, self._ended_by)
        self._answer()

    def _pass(self, data: bytes, *, is_reply: bool) -> None:
        # Bytes that the socket has taken reach the client before the end of the connection does.
        if is_reply:
            self._passed += 1
        self._client.sendall(data)

    def _answer(self) -> None:
        """Sends the replies that are made here, once all earlier ones have gone through."""
        with self._passing, contextlib.suppress(OSError):
            while True:
                with self._mutex:
                    if not self._pending or self._pending[0].answer is None:
                        return
                    command = self._pending.popleft()
                self._pass(command.answer or b"", is_reply=True)

    def _spring(self, trap: Trap | None) -> None:
        if trap is None or trap.what == "refuse":
            return
        if trap.what == "cut":
            self.end("proxy")
        elif trap.what == "delay":
            time.sleep(trap.seconds)
        else:
            self._held += 1
            trap.thawed.wait()
            self._held -= 1
