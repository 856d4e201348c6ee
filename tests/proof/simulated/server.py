"""A real Redis in simulated time: it gets one command at a time, each at a moment of the world.

Redis runs one command after the other. So a world determines everything by the order of commands, and by the time and
the random numbers that Redis gets (``shim.c``). Blocking commands, messages, invalidations and scripts are Redis's own.
After each command two PINGs of another connection show that all of its effects have been written to all sockets.

A power cut leaves the append-only file as it was at some moment, and so does a takeover by a replica.
"""

from __future__ import annotations

import hashlib
import mmap
import os
import random
import re
import select
import socket
import struct
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from tests.conftest import PROGRAMS
from tests.proof.simulated.loop import Line, Loop

__all__ = ["Redis", "built"]

_EPOCH_US = 1_700_000_000_000_000
_PING = b"*1\r\n$4\r\nPING\r\n"
_PONG = b"+PONG\r\n"
# The place of the timeout among the words, for commands that block.
_BLOCKING = {b"BLPOP": -1, b"BRPOP": -1, b"BLMOVE": -1, b"BRPOPLPUSH": -1, b"BLMPOP": 1}
_POPS = (b"BLPOP", b"BRPOP", b"LPOP", b"RPOP", b"LMPOP", b"BLMPOP")
_ITEM = re.compile(rb"item:\w+:\d+")
_real_sleep = time.sleep


def built(folder: Path) -> Path:
    """The library that gives Redis its time."""
    shim = folder / "shim.so"
    source = Path(__file__).with_name("shim.c")
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", str(shim), str(source), "-ldl"], check=True)
    return shim


class _Session:
    """One connection to Redis, and the world's line that it belongs to."""

    def __init__(self, line: Line, sock: socket.socket) -> None:
        self.line, self.sock = line, sock
        self.buffer = b""
        #: When Redis ends the command that blocks, on its clock.
        self.blocked_until_us: int | None = None
        #: Whether the next output has values that are in Redis no more.
        self.pops = False


class Redis:
    """The server of a world. ``lost(net, values)`` is called for values that a reply has had which nobody got."""

    def __init__(self, folder: Path, shim: Path, seed: int, lost: Callable[[str, list[str]], None]) -> None:
        self._folder, self._lost = folder, lost
        #: Of its socket.
        self.path = str(folder / "redis.sock")
        self.loop: Loop
        self.ahead_us = 0
        self.digest = hashlib.sha256()
        self.commands = 0
        #: By client: values that it was sent, which no call of it may have given yet.
        self.handed: dict[str, list[str]] = {}
        self._sessions: list[_Session] = []
        self._stands_until = 0.0
        self._down = False
        self._last_us = 0
        #: When the append-only file had which size, the last one last.
        self._sizes: list[tuple[float, int]] = []
        self._chance = random.Random(f"redis-{seed}")
        (folder / "clock").write_bytes(bytes(8))
        with (folder / "clock").open("r+b") as file:
            self._clock = mmap.mmap(file.fileno(), 8)
        self._environment = {
            **os.environ,
            "LD_PRELOAD": str(shim),
            "WORLD_CLOCK": str(folder / "clock"),
            "WORLD_CHANCE": str(folder / "chance"),
        }

    # -- life --------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        (self._folder / "chance").write_bytes(self._chance.randbytes(4096))
        self._set_clock()
        Path(self.path).unlink(missing_ok=True)
        options = {
            "port": "0",
            "unixsocket": self.path,
            "dir": self._folder,
            "save": "",
            "appendonly": "yes",
            "appendfsync": "no",
            "auto-aof-rewrite-percentage": "0",
            "enable-debug-command": "yes",
        }
        words = [str(word) for name, value in options.items() for word in (f"--{name}", value)]
        self._process = subprocess.Popen(
            [str(PROGRAMS["redis"]().path), *words], env=self._environment, stdout=subprocess.DEVNULL
        )
        for _ in range(2000):
            try:
                self._control = self._connected()
                break
            except OSError:
                _real_sleep(0.002)
        else:
            raise AssertionError("Redis does not start in a world")
        # It answers LOADING at first.
        while self.ask(b"PING") != _PONG:
            _real_sleep(0.002)
        self.ask(b"DEBUG", b"SET-ACTIVE-EXPIRE", b"0")
        self._down = False
        self._note_size()

    def stop(self) -> None:
        self._process.kill()
        self._process.wait()

    def cut_power(self, down: float, since: float) -> None:
        """The server ends at once, and is there again later, with what it had at ``since``."""
        self.stop()
        self._down = True
        for session in list(self._sessions):
            session.line.reset()
        self._sizes = [each for each in self._sizes if each[0] <= since] or self._sizes[:1]
        os.truncate(self._file, self._sizes[-1][1])
        self.loop.at(self.loop.time() + down, self.start)

    def stand_still(self, seconds: float) -> None:
        """Answers nobody for so long."""
        self._stands_until = max(self._stands_until, self.loop.time() + seconds)

    def step_clock(self, seconds: float) -> None:
        self.ahead_us += round(seconds * 1_000_000)
        self._last_us = 0
        if not self._down:
            self._tick()

    @property
    def now_us(self) -> int:
        """Its clock, epoch us."""
        return _EPOCH_US + self.loop.now_us + self.ahead_us

    # -- of the loop -------------------------------------------------------------------------------------------------

    @property
    def refuses(self) -> bool:
        return self._down

    def opened(self, line: Line) -> None:
        line.session = _Session(line, self._connected())
        self._sessions.append(line.session)

    def heard(self, line: Line, data: bytes) -> None:
        session: _Session = line.session
        session.buffer += data
        left = self._stands_until - self.loop.time()
        if left > 0:
            # Behind those that came before.
            self.loop.at(self._stands_until, self._go_on, session)
        else:
            self._go_on(session)

    def left(self, line: Line) -> None:
        session: _Session = line.session
        if session in self._sessions:
            self._sessions.remove(session)
            session.sock.close()
            if not self._down:
                self._settle()
                self._drain()

    def missed(self, line: Line, values: list[str]) -> None:
        self._lost(line.net.name, values)

    # -- commands ----------------------------------------------------------------------------------------------------

    def ask(self, *words: bytes) -> bytes:
        """A command of the world itself; its reply as it comes, up to some KB."""
        packed = [b"*%d\r\n" % len(words), *(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)]
        self._control.sendall(b"".join(packed))
        return self._control.recv(1 << 16)

    def _go_on(self, session: _Session) -> None:
        while session in self._sessions and (found := _command(session.buffer)) is not None:
            words, size = found
            raw, session.buffer = session.buffer[:size], session.buffer[size:]
            self._run(session, words, raw)

    def _run(self, session: _Session, words: list[bytes], raw: bytes) -> None:
        self.commands += 1
        self._set_clock()
        ends = [each.blocked_until_us for each in self._sessions if each.blocked_until_us is not None]
        if ends and min(ends) <= self._last_us:
            self._settle()
        self._seen(b">", session, raw)
        name = words[0].upper()
        session.pops = session.pops or name in _POPS
        session.sock.sendall(raw)
        self._settle(1 + len(raw) // 8192)
        if not self._drain(session) and name in _BLOCKING:
            seconds = float(words[_BLOCKING[name]])
            if seconds > 0:
                session.blocked_until_us = self._last_us + round(seconds * 1_000_000) + 2_000
                self.loop.at(self.loop.time() + seconds + 0.003, self._unblock, session)
        self._note_size()

    def _unblock(self, session: _Session) -> None:
        if session.blocked_until_us is not None and session in self._sessions:
            self._tick()
            if session.blocked_until_us is not None:
                # The clock was set back meanwhile.
                self.loop.at(self.loop.time() + 0.1, self._unblock, session)

    def _tick(self) -> None:
        self._set_clock()
        self._settle()
        self._drain()

    def _set_clock(self) -> None:
        # Never the same twice, as for a Redis in a real time.
        self._last_us = max(self._last_us + 1, self.now_us)
        struct.pack_into("<q", self._clock, 0, self._last_us)

    def _settle(self, times: int = 1) -> None:
        for _ in range(times + 1):
            self._control.sendall(_PING)
            assert self._control.recv(64) == _PONG

    def _drain(self, asked: _Session | None = None) -> bool:
        """Sends on what Redis has written. Whether anything came for the one that has asked."""
        poll = select.poll()
        by_number = {}
        for session in self._sessions:
            poll.register(session.sock, select.POLLIN)
            by_number[session.sock.fileno()] = session
        ready = {number for number, _ in poll.poll(0)}
        for number, session in by_number.items():
            # A connection that ends meanwhile has others read first.
            if number in ready and session in self._sessions and (data := _received(session.sock)) is not None:
                self._pass_on(session, data)
        return asked is not None and asked.sock.fileno() in ready

    def _pass_on(self, session: _Session, data: bytes) -> None:
        self._seen(b"<", session, data)
        if not data:
            self._sessions.remove(session)
        session.blocked_until_us = None
        net = session.line.net
        values = [each.decode() for each in _ITEM.findall(data)] if session.pops else []
        session.pops = False
        if data and net.loses:
            net.loses -= 1
            self._lost(net.name, values)
            session.line.reset()
            return
        self.handed.setdefault(net.name, []).extend(values)
        session.line.answer(data, values)

    def _seen(self, way: bytes, session: _Session, data: bytes) -> None:
        if b"\r\n# " in data[:12]:
            # An answer to INFO has sizes, which are the allocator's choice.
            data = b"INFO"
        self.digest.update(b"%d %s %s %s\n" % (self.loop.now_us, session.line.net.name.encode(), way, data))

    def _note_size(self) -> None:
        size = self._file.stat().st_size
        if not self._sizes or self._sizes[-1][1] != size:
            self._sizes.append((self.loop.time(), size))

    @property
    def _file(self) -> Path:
        return max((self._folder / "appendonlydir").glob("*.incr.aof"))

    def _connected(self) -> socket.socket:
        made = socket.socket(socket.AF_UNIX)
        made.connect(self.path)
        return made


def _received(sock: socket.socket) -> bytes | None:
    """All that has come; None where nothing has."""
    found = b""
    while True:
        try:
            data = sock.recv(1 << 16, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return found or None
        found += data
        if len(data) < 1 << 16:
            return found


def _command(buffer: bytes) -> tuple[list[bytes], int] | None:
    """The words of the first command, and its size; None where it is not complete."""
    end = buffer.find(b"\r\n")
    if end < 0:
        return None
    words = []
    at = end + 2
    for _ in range(int(buffer[1:end])):
        end = buffer.find(b"\r\n", at)
        if end < 0:
            return None
        size = int(buffer[at + 1 : end])
        at = end + 2 + size + 2
        if at > len(buffer):
            return None
        words.append(buffer[end + 2 : at - 2])
    return words, at
