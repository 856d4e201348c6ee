"""One connection through a proxy: its commands one way, its replies the other, and the traps between."""

from __future__ import annotations

import contextlib
import logging
import socket
import threading
import time
from collections import deque
from typing import Protocol

from redisson_dq.testing.faults._commands import Command, Trap, Where, command_of
from redisson_dq.testing.faults._frames import CommandFrames, Frames, ReplyFrames

__all__ = ["Link"]

_PUBSUB = (b"SUBSCRIBE", b"UNSUBSCRIBE", b"PSUBSCRIBE", b"PUNSUBSCRIBE", b"SSUBSCRIBE", b"SUNSUBSCRIBE")
# Redis did not know the script, and did nothing. The client sends its text then.
_NOT_DONE = b"-NOSCRIPT"
_MESSAGE = b">"
# The server gets this for a command of a transaction that is refused. It refuses this one, and then the transaction.
_UNKNOWN = b"*1\r\n$12\r\nREDISSON_DQ_\r\n"
# How many bytes are shown that are no message.
_SHOWN = 40

logger = logging.getLogger("redisson_dq")


class _Between(Protocol):
    """The proxy, as its connections know it."""

    delay: float
    came: deque[str]

    @property
    def is_frozen(self) -> bool: ...

    def wait_open(self) -> None: ...

    def springs(self, command: Command, where: Where) -> Trap | None: ...

    def reply_lost(self, command: Command, reply: bytes | None, ended_by: str) -> None: ...

    def left(self, link: Link) -> None: ...


class Link:
    """One connection and its counterpart.

    If the client or this proxy breaks it, the server is only notified that no more commands follow. Its last answers
    are still read, so the lost replies are known.
    """

    def __init__(self, proxy: _Between, client: socket.socket, server: socket.socket) -> None:
        self._proxy, self._client, self._server = proxy, client, server
        #: The client's.
        self.address = client.getpeername()
        #: By which the server knows it.
        self.server_address = "{}:{}".format(*server.getsockname())
        self._mutex = threading.Lock()
        # Held while a reply is forwarded.
        self._passing = threading.Lock()
        self._pending: deque[Command] = deque()
        self._is_subscribed = self._has_warned = False
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
        frames = CommandFrames()
        with contextlib.suppress(OSError):
            while data := self._client.recv(65536):
                for frame in frames.feed(data):
                    self._command(frame)
                if strays := self._strays(frames, "client"):
                    self._forward(strays)
        self.end("client")

    def _forward(self, data: bytes) -> None:
        """Sends bytes that have no reply."""
        self._proxy.wait_open()
        if not self._is_deaf and not self._ended_by:
            self._server.sendall(data)

    def _strays(self, frames: Frames, side: str) -> bytes:
        """Forwards invalid bytes. The other side judges them, as it would without a proxy."""
        found = frames.strays()
        if found and not self._has_warned:
            self._has_warned = True
            logger.warning(
                "a connection through the faults of a test carries bytes of its %s that are not Redis's protocol (%r); "
                "from here on they are passed on, and meet no fault at a command",
                side,
                found[:_SHOWN],
            )
        return found

    def _command(self, frame: bytes) -> None:
        command = command_of(frame)
        if not command.name:
            self._forward(frame)
            return
        self._queue(command)
        self._proxy.came.append(command.label)
        trap = self._proxy.springs(command, "command")
        self._spring(trap)
        self._proxy.wait_open()
        if trap is not None and trap.what == "refuse":
            self._refuse(command, trap)
        with self._mutex:
            if self._ended_by:
                return
            self._is_subscribed = self._is_subscribed or (command.name in _PUBSUB and command.answer is None)
            # Among messages no reply has a place of its own.
            if not self._is_subscribed:
                self._pending.append(command)
            elif command.is_answered_here:
                self._client.sendall(command.answer or b"")
        if command.is_answered_here:
            self._answer()
        elif not self._is_deaf:
            self._send(command, frame if command.answer is None else _UNKNOWN)

    def _refuse(self, command: Command, trap: Trap) -> None:
        command.answer = trap.answer
        if command.name == b"MULTI":
            self._queued = None

    def _send(self, command: Command, frame: bytes) -> None:
        trap = self._proxy.springs(command, "sent")
        if trap is not None and trap.what == "cut":
            # The reply arrives at once, and must not pass before the end.
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
        frames, is_orderly = ReplyFrames(), False
        with contextlib.suppress(OSError):
            while data := self._server.recv(65536):
                if self._proxy.delay:
                    time.sleep(self._proxy.delay)
                for frame in frames.feed(data):
                    self._reply(frame)
                if strays := self._strays(frames, "server"):
                    self._deliver(strays)
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
        # In RESP3 a message may come between two replies.
        is_reply = not self._is_subscribed and not frame.startswith(_MESSAGE)
        with self._mutex:
            command = self._pending.popleft() if self._pending and is_reply else None
        if command is not None and command.answer is not None:
            frame = command.answer
        rest = frame
        if command is not None and not self._ended_by and not frame.startswith(_NOT_DONE):
            self._spring(self._proxy.springs(command, "reply"))
            trap = self._proxy.springs(command, "half")
            if trap is not None and not self._ended_by:
                rest = frame[len(frame) // 2 :]
                with contextlib.suppress(OSError):
                    self._client.sendall(frame[: len(frame) // 2])
                self._spring(trap)
        if not self._deliver(rest, is_reply=command is not None) and command is not None:
            self._proxy.reply_lost(command, frame, self._ended_by)
        self._answer()

    def _deliver(self, data: bytes, *, is_reply: bool = False) -> bool:
        """Delivers replies. Returns whether the client got them, or is meant to wait in vain."""
        self._proxy.wait_open()
        try:
            with self._passing:
                if self._ended_by:
                    raise BrokenPipeError
                if not self._is_mute:
                    self._pass(data, is_reply=is_reply)
        except OSError:
            self.end("client")
            return False
        return True

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
                    if not self._pending or not self._pending[0].is_answered_here:
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
