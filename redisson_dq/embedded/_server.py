"""``EmbeddedServer``: one private server process, from start to stop."""

from __future__ import annotations

import logging
import math
import os
import shutil
import tempfile
import time
import weakref
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from redisson_dq.embedded._find import ServerProgram, find_server
from redisson_dq.embedded._probe import LOOPBACK, Address, ServerInfo, free_port, probe
from redisson_dq.embedded._process import Supervised
from redisson_dq.errors import ArgumentError, RedisConnectionError

__all__ = ["EmbeddedServer"]

logger = logging.getLogger("redisson_dq.embedded")

_LOG_TAIL = 12  # lines of the server's log in an error
_LONGEST_UNIX_PATH = 100  # bytes; sun_path holds 108 on Linux, 104 on macOS

_OURS = frozenset({"port", "bind", "unixsocket", "dir", "daemonize", "logfile"})  # never in config
_SECRET = ("requirepass", "masterauth", "tls-key-file-pass", "tls-client-key-file-pass")


class EmbeddedServer:
    """A Redis-compatible server on loopback. It ends with this object, and with this process.

    A context manager: ``with EmbeddedServer() as server: connect(server.url)``. A start takes some 60 ms and
    blocks, in asyncio too. It answers PING when ``start`` returns. It ends at ``stop``, when the object is
    garbage, when the interpreter exits, and when this process is killed in whatever way. A forked copy of
    this process does not own it. Use one object from one thread at a time; different objects are independent.

    - ``program``: a path, a name on PATH or a ``ServerProgram``; None looks one up (``find_server``).
    - ``port``: the TCP port on 127.0.0.1; None picks a free one, and another one if that is taken meanwhile.
    - ``unixsocket``: a socket path instead of TCP; True puts it into the server's temporary directory.
    - ``data_dir``: where data is kept, created if missing and kept after stop; None: a temporary directory.
    - ``appendonly``: write an append-only file, so data survives ``restart``; RDB snapshots are always off.
    - ``config``: more server options, as in redis.conf. With ``{"appendfsync": "always"}`` acknowledged writes
      survive ``kill`` too; otherwise the last two seconds may be lost.
    - ``start_timeout``: seconds until a server that does not answer is an error.

    Raises ``ServerNotFoundError`` when no program is found, ``ArgumentError``, and ``RedisConnectionError`` with the
    end of the server's log if it does not start.
    """

    def __init__(
        self,
        program: str | os.PathLike[str] | ServerProgram | None = None,
        *,
        port: int | None = None,
        unixsocket: bool | str | os.PathLike[str] = False,
        data_dir: str | os.PathLike[str] | None = None,
        appendonly: bool = False,
        config: Mapping[str, str] | None = None,
        start_timeout: float = 10.0,
    ) -> None:
        if port is not None and not 0 < port < 65536:
            raise ArgumentError(f"port must be between 1 and 65535, not {port}")
        if port is not None and unixsocket:
            raise ArgumentError("port and unixsocket exclude each other")
        if ours := _OURS.intersection(config or ()):
            raise ArgumentError(f"options that cannot be given in config: {', '.join(sorted(ours))}")
        if not (start_timeout > 0 and math.isfinite(start_timeout)):
            raise ArgumentError(f"start_timeout must be a positive number of seconds, not {start_timeout}")
        self._program = program if isinstance(program, ServerProgram) else find_server(program)
        self._port = port
        self._unixsocket = unixsocket
        self._data_dir = None if data_dir is None else Path(data_dir).absolute()
        self._appendonly = appendonly
        self._config = dict(config or {})
        self._start_timeout = start_timeout
        self._work_dir: Path | None = None
        self._finalizer: weakref.finalize[[Path, int], EmbeddedServer] | None = None
        self._address: Address | None = None
        self._info: ServerInfo | None = None
        self._process: Supervised | None = None

    # -- facts -------------------------------------------------------------------------------------------------------

    @property
    def program(self) -> ServerProgram:
        """The program this server runs, and where it was found."""
        return self._program

    @property
    def running(self) -> bool:
        """Whether the server process runs, as far as that is known without asking Redis."""
        return self._process is not None and self._process.running

    @property
    def port(self) -> int | None:
        """The TCP port on 127.0.0.1, the same after ``restart``; None on a unix socket."""
        address = self._known_address()
        return address if isinstance(address, int) else None

    @property
    def url(self) -> str:
        """``redis://127.0.0.1:PORT/0``, or ``unix:///path?db=0``. Kept between ``kill`` and ``restart``."""
        secret = self._password()
        return self._url("" if secret is None else f":{quote(secret, safe='')}@")

    @property
    def pid(self) -> int:
        """The server's process id (not the supervisor's)."""
        return self._known_info().pid

    @property
    def name(self) -> str:
        """``Redis`` or ``Valkey``."""
        return self._known_info().name

    @property
    def version(self) -> str:
        """The server's own version: ``7.0.15``."""
        return self._known_info().version

    @property
    def data_dir(self) -> Path:
        """The directory the server works in."""
        if self._data_dir is not None:
            return self._data_dir
        return self._known_work_dir() / "data"

    def __repr__(self) -> str:
        where = "stopped" if self._address is None else self._url("" if self._password() is None else ":***@")
        return f"<EmbeddedServer {where} {self._program.path}>"

    # -- life --------------------------------------------------------------------------------------------------------

    def start(self) -> EmbeddedServer:
        """Start the server unless it runs, and wait until it answers."""
        if self.running:
            return self
        if self._work_dir is None:
            self._work_dir = Path(tempfile.mkdtemp(prefix="redisson-dq-"))
            self._finalizer = weakref.finalize(self, _remove, self._work_dir, os.getpid())
        try:
            self.data_dir.mkdir(parents=True, exist_ok=True)
            self._start_by(time.monotonic() + self._start_timeout)
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """Stop the server as SIGTERM does and remove its temporary files. Harmless when it does not run."""
        self._end("term")
        self._address = None
        if self._finalizer is not None:
            self._finalizer()
        self._work_dir = self._finalizer = None

    def kill(self) -> None:
        """SIGKILL the server, as when it crashes. Its address and files stay, for ``restart``."""
        self._end("kill")

    def restart(self) -> None:
        """Stop the server if it runs, and start it again on the same address and data directory.

        Data is there again only with ``appendonly``.
        """
        if self._work_dir is None:
            raise ArgumentError("this server was never started, or was stopped for good")
        self._end("term")
        self.start()

    def __enter__(self) -> EmbeddedServer:
        return self.start()

    def __exit__(self, *error: object) -> None:
        self.stop()

    # -- inside ------------------------------------------------------------------------------------------------------

    def _start_by(self, deadline: float) -> None:
        in_use: _AddressInUseError | None = None
        while True:
            address = self._address or self._pick_address()
            process = Supervised(self._command(address), work_dir=self._known_work_dir())
            try:
                self._info = self._wait_until_ready(process, address, deadline)
            except BaseException as error:
                process.end("kill")
                if isinstance(error, _AddressInUseError):
                    in_use = error
                elif in_use is None or not isinstance(error, RedisConnectionError):
                    raise
                if time.monotonic() > deadline:
                    raise in_use from None
                if self._address or self._port:  # this port and no other: a process that holds it may release it
                    time.sleep(0.05)
                continue
            self._process, self._address = process, address
            logger.info("started %s %s, pid %d, %s", self.name, self.version, self.pid, self._program.path)
            return

    def _wait_until_ready(self, process: Supervised, address: Address, deadline: float) -> ServerInfo:
        pause = 0.004
        while True:
            info = probe(address, password=self._password())
            # Another server may answer on this port, and ours may be about to fail to bind it.
            if info is not None and info.pid == process.pid:
                return info
            if not process.wait(pause):
                tail = process.log_tail(_LOG_TAIL)
                failure = _AddressInUseError if "Address already in use" in tail else RedisConnectionError
                raise failure(f"{self._program.path} ended with status {process.status} before it answered:\n{tail}")
            if time.monotonic() > deadline:
                raise RedisConnectionError(
                    f"{self._program.path} did not answer at {address} within {self._start_timeout:g} s:\n"
                    + process.log_tail(_LOG_TAIL)
                )
            pause = min(pause * 1.5, 0.1)

    def _pick_address(self) -> Address:
        if not self._unixsocket:
            return self._port or free_port()
        path = self._known_work_dir() / "redis.sock" if self._unixsocket is True else Path(self._unixsocket)
        if len(os.fsencode(path.absolute())) > _LONGEST_UNIX_PATH:
            raise ArgumentError(f"the unix socket's path is longer than {_LONGEST_UNIX_PATH} bytes: {path}")
        return path.absolute()

    def _command(self, address: Address) -> list[str]:
        options = {"save": "", "appendonly": "yes" if self._appendonly else "no", "dir": str(self.data_dir)}
        if isinstance(address, int):
            options |= {"port": str(address), "bind": LOOPBACK}
        else:
            options |= {"port": "0", "unixsocket": str(address), "unixsocketperm": "700"}
        options |= self._config
        secrets = [f"{name} {_quoted(options.pop(name))}\n" for name in _SECRET if name in options]
        files = []
        if secrets:
            # Other users of the machine can read the arguments of a process. Only this user can read the directory.
            path = self._known_work_dir() / "secrets.conf"
            path.write_text("".join(secrets))
            files.append(str(path))
        return [str(self._program.path), *files, *(part for name in options for part in (f"--{name}", options[name]))]

    def _end(self, how: str) -> None:
        process, self._process, self._info = self._process, None, None
        if process is not None:
            process.end(how)
            logger.info("stopped %s, pid %d", self._program.path, process.pid)

    def _url(self, user: str) -> str:
        address = self._known_address()
        if isinstance(address, int):
            return f"redis://{user}{LOOPBACK}:{address}/0"
        return f"unix://{user}{quote(str(address))}?db=0"

    def _password(self) -> str | None:
        return self._config.get("requirepass")

    def _known_address(self) -> Address:
        if self._address is None:
            raise ArgumentError("this server is not started")
        return self._address

    def _known_info(self) -> ServerInfo:
        if self._info is None:
            raise ArgumentError("this server is not running")
        return self._info

    def _known_work_dir(self) -> Path:
        if self._work_dir is None:
            raise ArgumentError("this server is not started")
        return self._work_dir


def _quoted(value: str) -> str:
    """A value, quoted for a configuration file, whatever its bytes."""
    return '"' + "".join(f"\\x{byte:02x}" for byte in value.encode()) + '"'


class _AddressInUseError(RedisConnectionError):
    """Another process took the port after it was chosen and before the server bound it."""


def _remove(work_dir: Path, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(work_dir, ignore_errors=True)
