"""A TCP proxy that reads what it forwards: it cuts, delays or freezes at a named command or at its reply.

It also knows what a broken connection took along. Each pop that Redis may have carried out and whose reply the client
never got is a :class:`LostReply`: with the items of the reply where the gate has seen it, and otherwise with the
number of items that it can have held at most. The checker allows these losses and no others.
"""

from __future__ import annotations

import contextlib
import re
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from types import TracebackType
from typing import Literal

from redisson_dq.scripts.script import load, names
from tests.faults.resp import Frames, words

__all__ = ["ITEM", "Gate", "LostReply", "Trap"]

#: Finds an item's name inside its value.
ITEM = re.compile(rb"item:[a-z]+[0-9a-z]*:[0-9]+")

_EVALS = {b"EVAL", b"EVALSHA"}
_POPS = {b"BLPOP", b"BRPOP", b"LPOP", b"RPOP"}
_PUBSUB = {b"SUBSCRIBE", b"UNSUBSCRIBE", b"PSUBSCRIBE", b"PUNSUBSCRIBE"}

Where = Literal["command", "sent", "reply", "half"]
What = Literal["cut", "delay", "freeze"]


@dataclass(frozen=True)
class LostReply:
    """A pop whose reply never reached its client. ``held`` are the items in it, or None when nobody has seen it."""

    key: bytes
    most: int
    held: frozenset[str] | None
    ended_by: str
    at: float


@dataclass
class Trap:
    """Does ``what`` when a command comes, or a script by its name (``put_back.lua``).

    That is before it is forwarded (``command``), right after (``sent``), before its reply is forwarded (``reply``), or
    in the middle of the reply (``half``).
    """

    command: str
    where: Where
    what: What
    times: int = 1
    seconds: float = 0.2
    #: Set when the trap has sprung for the last time.
    sprung: threading.Event = field(default_factory=threading.Event)
    #: For a trap that freezes: set when what it holds may go on.
    thawed: threading.Event = field(default_factory=threading.Event)


@dataclass
class _Pending:
    name: bytes
    key: bytes
    most: int
    script: bytes = b""


class Gate:
    """Forwards everything to the server at ``port()`` until told otherwise."""

    def __init__(self, port: Callable[[], int]) -> None:
        self._server_port = port
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port: int = self._listener.getsockname()[1]
        self.mutex = threading.Lock()
        self.lost: list[LostReply] = []
        self.refusing = False
        self._traps: list[Trap] = []
        self._frozen: list[Trap] = []
        self._links: set[_Link] = set()
        self._open = threading.Event()
        self._open.set()
        threading.Thread(target=self._accept, name="gate", daemon=True).start()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def trap(self, command: str, where: Where, what: What, *, times: int = 1, seconds: float = 0.2) -> Trap:
        """Sets a trap, which springs ``times`` times."""
        made = Trap(command, where, what, times, seconds)
        with self.mutex:
            self._traps.append(made)
        return made

    def clear(self) -> None:
        """Removes the traps that have not sprung, and lets everything through again."""
        with self.mutex:
            self._traps.clear()
        self.refusing = False
        self._open.set()
        self.thaw()

    def thaw(self) -> None:
        """Lets what a trap has frozen go on."""
        with self.mutex:
            for trap in self._frozen:
                trap.thawed.set()
            self._frozen.clear()

    def cut(self) -> None:
        """Closes the connections that exist. New ones work."""
        with self.mutex:
            links = list(self._links)
        for link in links:
            link.end("gate")

    def settle(self) -> None:
        """Waits until the gate knows which replies were lost with each broken connection."""
        deadline = time.monotonic() + 10
        while any(link.broken for link in list(self._links)) and time.monotonic() < deadline:
            time.sleep(0.005)

    def freeze(self) -> None:
        """From now on nothing passes in either direction. :meth:`clear` ends that."""
        self._open.clear()

    def wait_open(self) -> None:
        self._open.wait()

    def springs(self, pending: _Pending, where: Where) -> Trap | None:
        """The trap that this command, or its reply, walks into."""
        called = (pending.name, pending.script, b"*")
        with self.mutex:
            for trap in self._traps:
                if trap.where == where and trap.command.encode() in called:
                    trap.times -= 1
                    if trap.what == "freeze":
                        trap.thawed.clear()
                        self._frozen.append(trap)
                    if not trap.times:
                        self._traps.remove(trap)
                        trap.sprung.set()
                    return trap
        return None

    def __enter__(self) -> Gate:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
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
                    server = socket.create_connection(("127.0.0.1", self._server_port()), timeout=5)
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

    When it is broken here, or by the client, the server is only told that nothing more is sent: what it has answered
    by then is still read, so that nobody has to guess what went down with the connection.
    """

    def __init__(self, gate: Gate, client: socket.socket, server: socket.socket) -> None:
        self._gate, self._client, self._server = gate, client, server
        self._mutex = threading.Lock()
        # Held while a reply is forwarded.
        self._passing = threading.Lock()
        self._pending: deque[_Pending] = deque()
        self._pubsub = False
        # The pops of a transaction that has begun.
        self._queued: list[_Pending] | None = None
        self._ended_by = ""
        for sock in (client, server):
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def start(self) -> None:
        for work in (self._commands, self._replies):
            threading.Thread(target=work, name="gate-link", daemon=True).start()

    @property
    def broken(self) -> bool:
        return bool(self._ended_by)

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
        said = words(frame)
        name = said[0].upper()
        pending = _Pending(name, *_pop(name, said), script=_scripts().get(said[1], b"") if name in _EVALS else b"")
        self._queue(pending)
        self._spring(self._gate.springs(pending, "command"))
        self._gate.wait_open()
        with self._mutex:
            if self._ended_by:
                return
            self._pubsub = self._pubsub or name in _PUBSUB
            if not self._pubsub:
                self._pending.append(pending)
        trap = self._gate.springs(pending, "sent")
        if trap is not None and trap.what == "cut":
            # The reply comes at once, and must not get through before the end.
            with self._passing:
                self._server.sendall(frame)
                self._spring(trap)
        else:
            self._server.sendall(frame)
            self._spring(trap)

    def _queue(self, pending: _Pending) -> None:
        """In a transaction the reply to EXEC has what a pop took, and the reply to the pop has nothing."""
        if pending.name == b"MULTI":
            self._queued = []
        elif pending.name == b"EXEC":
            for pop in self._queued or ():
                pending.key, pending.most = pop.key, pending.most + pop.most
            self._queued = None
        elif self._queued is not None and pending.most:
            self._queued.append(_Pending(pending.name, pending.key, pending.most))
            pending.key, pending.most = b"", 0

    # -- from the server ---------------------------------------------------------------------------------------------

    def _replies(self) -> None:
        frames, orderly = Frames(), False
        with contextlib.suppress(OSError):
            while data := self._server.recv(65536):
                for frame in frames.feed(data):
                    self._reply(frame)
            orderly = True
        self.end("server")
        for pending in self._pending:
            # Redis may serve a blocked pop in the very moment in which it learns that the connection has ended, and
            # then it throws the reply away. What does not block was answered before.
            if self._ended_by == "server" or not orderly or pending.name.startswith(b"B"):
                self._lost(pending, None)
        for sock in (self._client, self._server):
            sock.close()
        self._gate.left(self)

    def _reply(self, frame: bytes) -> None:
        with self._mutex:
            pending = self._pending.popleft() if self._pending and not self._pubsub else None
        rest = frame
        if pending is not None and not self._ended_by:
            self._spring(self._gate.springs(pending, "reply"))
            trap = self._gate.springs(pending, "half")
            if trap is not None and not self._ended_by:
                rest = frame[len(frame) // 2 :]
                with contextlib.suppress(OSError):
                    self._client.sendall(frame[: len(frame) // 2])
                self._spring(trap)
        self._gate.wait_open()
        try:
            with self._passing:
                if self._ended_by:
                    raise BrokenPipeError
                # Bytes that the socket has taken reach the client before the end of the connection does.
                self._client.sendall(rest)
        except OSError:
            self.end("client")
            if pending is not None:
                self._lost(pending, frozenset(each.decode() for each in ITEM.findall(frame)))

    def _lost(self, pending: _Pending, held: frozenset[str] | None) -> None:
        if pending.most and (held is None or held):
            self._gate.lost.append(LostReply(pending.key, pending.most, held, self._ended_by, time.time()))

    def _spring(self, trap: Trap | None) -> None:
        if trap is None:
            return
        if trap.what == "cut":
            self.end("gate")
        elif trap.what == "delay":
            time.sleep(trap.seconds)
        else:
            trap.thawed.wait()


@cache
def _scripts() -> dict[bytes, bytes]:
    """The scripts' names by what calls them."""
    loaded = [load(name) for name in names()]
    return {
        call: f"{script.name}.lua".encode()
        for script in loaded
        for call in (script.sha.encode(), script.source.encode())
    }


def _pop(name: bytes, said: list[bytes]) -> tuple[bytes, int]:
    """The key of a command that takes values, and how many it takes at most."""
    if name not in _POPS:
        return b"", 0
    if name in (b"LPOP", b"RPOP"):
        return said[1], int(said[2]) if len(said) > 2 else 1
    return said[1], 1
