"""An event loop whose time jumps to the next event, and the connections that it makes."""

from __future__ import annotations

import asyncio
import contextvars
import random
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

__all__ = ["Host", "Line", "Loop", "Net", "StandsStillError"]

# The network of the client that a task or a callback belongs to.
_net: contextvars.ContextVar[Net | None] = contextvars.ContextVar("net", default=None)

# More rounds of the loop than this at one moment mean that there is no progress.
_ROUNDS = 200_000
_LATENCY = (0.000_05, 0.002)
# Seconds between two arrivals on a connection: the loop has no order for those at one moment.
_ORDER = 0.000_002
# After this many seconds of waiting, a client may give up a connection and its replies.
_PATIENCE = 1.0


class StandsStillError(AssertionError):
    """Nothing will happen any more, or too much happens at one moment."""


class _Selector:
    """Lets time pass, in place of a selector."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._rounds = 0

    def select(self, timeout: float | None) -> list[Any]:
        if timeout is None:
            raise StandsStillError("nobody waits for a time, and nothing else can happen")
        self._rounds = 0 if timeout > 0 else self._rounds + 1
        if self._rounds > _ROUNDS:
            raise StandsStillError(f"{_ROUNDS:,} rounds of the loop, and no time has passed")
        # Each round takes a microsecond, so that no two events of a history have one time.
        self._loop.now_us += max(1, -int(-timeout * 1_000_000 // 1))
        return []


class Host(Protocol):
    """Where connections lead."""

    def opened(self, line: Line) -> None: ...

    def heard(self, line: Line, data: bytes) -> None: ...

    def left(self, line: Line) -> None: ...

    def missed(self, line: Line, values: list[str]) -> None: ...

    @property
    def refuses(self) -> bool: ...


class Loop(asyncio.BaseEventLoop):
    """The event loop of a world, without threads and sockets."""

    def __init__(self, host: Host) -> None:
        super().__init__()
        self.now_us = 1_000_000_000
        self.host = host
        #: By the name of the host that a client connects to: the client's network.
        self.nets: dict[str, Net] = {}
        self._selector = _Selector(self)
        self._clock_resolution = 1e-6
        self._ground = contextvars.copy_context()

    def time(self) -> float:
        return self.now_us / 1_000_000

    def at(self, when: float, call: Callable[..., object], *args: Any) -> None:
        """Calls at a time, whoever asks for it: for what belongs to no client."""
        self.call_at(when, call, *args, context=self._ground)

    # A process that is gone does nothing more.
    def call_at(self, when: float, callback: Any, *args: Any, context: Any = None) -> asyncio.TimerHandle:  # type: ignore[override]
        return _unless_dead(super().call_at(when, callback, *args, context=context), context)

    def call_soon(self, callback: Any, *args: Any, context: Any = None) -> asyncio.Handle:  # type: ignore[override]
        return _unless_dead(super().call_soon(callback, *args, context=context), context)

    def _process_events(self, events: list[Any]) -> None:
        pass

    def _write_to_self(self) -> None:
        pass

    def run_in_executor(self, *_: Any) -> Any:  # type: ignore[override]
        raise AssertionError("a thread was asked for, whose steps no seed decides")

    async def create_connection(self, factory: Callable[[], Any], host: str, *_: Any, **__: Any) -> Any:  # type: ignore[override]
        net = self.nets[host]
        await net.reaches()
        if self.host.refuses:
            raise ConnectionRefusedError("nobody listens there")
        protocol = factory()
        line = Line(self, net, protocol)
        self.host.opened(line)
        protocol.connection_made(line)
        return line, protocol


_H = TypeVar("_H", bound=asyncio.Handle)


def _unless_dead(handle: _H, context: contextvars.Context | None) -> _H:
    net = _net.get() if context is None else context.get(_net)
    if net is not None and net.is_dead:
        handle.cancel()
    return handle


class Net:
    """The network between a client and the server."""

    def __init__(self, loop: Loop, name: str, rng: random.Random) -> None:
        self.loop, self.name, self.rng = loop, name, rng
        self.lines: list[Line] = []
        self._until = 0.0
        self.is_dead = False
        self._context = contextvars.copy_context()
        self._context.run(_net.set, self)
        #: So many of the next replies are lost, each with its connection.
        self.loses = 0

    def run(self, call: Callable[..., Any], *args: Any) -> Any:
        """Calls as a part of this client: what comes of it ends with the client."""
        return self._context.run(call, *args)

    async def reaches(self) -> None:
        """Returns when a connection was made, as far as the network decides."""
        await asyncio.sleep(max(0.0, self._until - self.loop.time()) + self.latency())

    def latency(self) -> float:
        return self.rng.uniform(*_LATENCY)

    def arrival(self, since: float) -> float:
        """When that arrives which is sent now, behind what was sent before."""
        return max(self.loop.time() + self.latency(), since + _ORDER, self._until + _ORDER)

    def partition(self, seconds: float) -> None:
        """Nothing arrives for so long; then all of it does."""
        self._until = max(self._until, self.loop.time() + seconds)

    def cut(self) -> None:
        """Every connection is reset, with what is under way."""
        for line in list(self.lines):
            line.reset()

    def die(self) -> None:
        """The client's process is gone."""
        self.is_dead = True
        for line in list(self.lines):
            line.drop()


class Line(asyncio.Transport):
    """One connection: what is written arrives at the other side, later."""

    def __init__(self, loop: Loop, net: Net, protocol: Any) -> None:
        super().__init__()
        self._loop, self.net, self._protocol = loop, net, protocol
        self._out = self._back = 0.0
        self._is_closing = self._is_over = self._was_broken = False
        #: For the server: what it knows of this connection.
        self.session: Any = None
        net.lines.append(self)

    # -- for the client ----------------------------------------------------------------------------------------------

    def write(self, data: Any) -> None:
        if not self._is_closing:
            self._out = self.net.arrival(self._out)
            self._loop.at(self._out, self._arrives, bytes(data))

    def writelines(self, parts: Any) -> None:
        self.write(b"".join(parts))

    def get_protocol(self) -> Any:
        return self._protocol

    def set_protocol(self, protocol: Any) -> None:
        self._protocol = protocol

    def close(self) -> None:
        if not self._is_closing:
            self._is_closing = True
            self._loop.at(self.net.arrival(self._out), self._leaves)
            self._loop.at(0, self._ends, None)

    def abort(self) -> None:
        self.close()

    def is_closing(self) -> bool:
        return self._is_closing

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        self._loop.at(self.net.arrival(self._out), self._leaves)

    def get_write_buffer_size(self) -> int:
        return 0

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return default

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass

    # -- for the server ----------------------------------------------------------------------------------------------

    def answer(self, data: bytes, values: list[str]) -> None:
        """Sends to the client. Empty: the server has closed. ``values`` are in Redis no more."""
        self._back = self.net.arrival(self._back)
        self._loop.at(self._back, self._comes, data, values, self._back - self._loop.time() > _PATIENCE)

    def reset(self) -> None:
        """Both sides see the connection end, with what is under way."""
        if not self._is_over:
            self._is_closing = self._was_broken = True
            self._loop.at(0, self._ends, ConnectionResetError("reset"))
            self._leaves()

    def drop(self) -> None:
        """The client hears nothing more, not even that."""
        self._is_closing = self._is_over = self._was_broken = True
        self._leaves()

    # -- what arrives ------------------------------------------------------------------------------------------------

    def _arrives(self, data: bytes) -> None:
        if self in self.net.lines:
            self._loop.host.heard(self, data)

    def _leaves(self) -> None:
        if self in self.net.lines:
            self.net.lines.remove(self)
            self._loop.host.left(self)

    def _comes(self, data: bytes, values: list[str], is_late: bool) -> None:
        if self._is_closing:
            if values and (self._was_broken or is_late):
                self._loop.host.missed(self, values)
            return
        if data:
            self._protocol.data_received(data)
        elif not self._protocol.eof_received():
            self.close()

    def _ends(self, error: Exception | None) -> None:
        if not self._is_over:
            self._is_over = True
            self._protocol.connection_lost(error)
