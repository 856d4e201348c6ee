"""A live Redisson to test against: drives the Java peer of ``interop/`` over JSON lines.

``interop/README.md`` lists the operations and the typed JSON their values cross in.
"""

from __future__ import annotations

import base64
import fcntl
import importlib
import itertools
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from pathlib import Path
from types import TracebackType
from typing import Any, final

from tests.poms import INTEROP, LATEST_LIBRARIES, libraries, maven, program, properties
from tests.versions import REDISSONS

__all__ = [
    "FAST_START",
    "INTEROP",
    "JVM",
    "JAVAC",
    "OPENS",
    "VERSIONS",
    "JavaPeer",
    "PeerDied",
    "PeerError",
    "Typed",
    "build",
    "from_json",
    "to_json",
    "vectors",
]

#: Redisson versions, newest first. The variable names one that is not proven yet.
VERSIONS = tuple(dict.fromkeys([*filter(None, [os.environ.get("REDISSON_DQ_REDISSON")]), *REDISSONS]))

#: Flags for a JVM that starts quickly and stays small. Pass ``flags=()`` where the peer's own speed is measured.
FAST_START = ("-Xshare:auto", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")

# Maven takes half of the time with such a JVM.
os.environ.setdefault("MAVEN_OPTS", " ".join(FAST_START))

#: The compiler, and a program of its own, as commands that begin quickly.
JAVAC = ("javac", *(f"-J{flag}" for flag in FAST_START))
JVM = ("java", *FAST_START)

#: Flags for FST, which does not start without them, and for JBoss Marshalling.
OPENS = tuple(
    f"--add-opens={package}=ALL-UNNAMED"
    for package in (
        *(f"java.base/java.{package}" for package in ("lang", "math", "net", "text", "util", "util.concurrent")),
        "java.sql/java.sql",
    )
)

_MAIN = "io.redissondq.interop.Peer"
_START_TIMEOUT = 60.0
_CALL_TIMEOUT = 60.0
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


class PeerError(Exception):
    """The peer answered an operation with an error: Java's class and message."""


class PeerDied(Exception):
    """The peer ended before it answered. The message holds the end of its stderr."""


# Building


def build(version: str) -> Path:
    """The directory of the built peer, built first when it is missing or older than its sources."""
    target = INTEROP / "target" / version
    stamp = target / "built"
    with _locked(INTEROP / "target" / f"{version}.lock"):
        if not stamp.exists() or stamp.stat().st_mtime < _newest_source():
            # Maven would leave the jars of an earlier dependency version in lib/, and so on the class path.
            shutil.rmtree(target, ignore_errors=True)
            redisson = f"-Dredisson.version={version.removesuffix(LATEST_LIBRARIES)}"
            maven("-q", "compile", redisson, f"-Dbuild.name={version}", *properties(libraries(version)))
            stamp.touch()
    return target


def _newest_source() -> float:
    sources = [INTEROP / "pom.xml", *(INTEROP / "src").rglob("*")]
    return max(path.stat().st_mtime for path in sources)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Keeps test processes that run side by side from building into each other."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _command(version: str, flags: Sequence[str]) -> list[str]:
    target = build(version)
    classpath = f"{target / 'classes'}{os.pathsep}{target / 'lib'}/*"
    # The JVM's own warnings go to stdout by default, where only answers are allowed.
    return [program("java"), "-Xlog:disable", "-Xlog:all=warning:stderr", *flags, "-cp", classpath, _MAIN]


def vectors(kind: str, version: str) -> str:
    """The rows of ``tests/vectors/<kind>-<version>.jsonl`` as this Redisson writes them now.

    ``kind`` is ``golden``, ``types``, ``marshalling``, ``foreign`` or ``methods``.
    """
    return _printed(version, kind, *(OPENS if kind in ("foreign", "marshalling") else ()))


def _printed(version: str, kind: str, *flags: str) -> str:
    command = [*_command(version, (*FAST_START, *flags)), kind]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout


# Running


@final
class JavaPeer:
    """One JVM with one Redisson version, ready when the constructor returns. Thread-safe."""

    def __init__(
        self,
        version: str = VERSIONS[0],
        *,
        flags: Sequence[str] = FAST_START,
        address: str | None = None,
        codec: str | None = None,
    ) -> None:
        """With an ``address`` (``redis://host:port``) the client named ``main`` is opened too."""
        command = _command(version, flags)
        self.version = version
        self._ids = itertools.count(1)
        self._pending: dict[int, Future[Any]] = {}
        self._lock = threading.Lock()
        self._ended = False
        self._ready: Future[Any] = Future()
        self._stderr = tempfile.NamedTemporaryFile(prefix=f"redisson-{version}-")  # noqa: SIM115
        self._last_words: str | None = None
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            encoding="utf-8",
        )
        self._reader = threading.Thread(target=self._read, name=f"redisson-{version}", daemon=True)
        self._reader.start()
        try:
            #: The peer's first line: versions of Redisson and Java.
            self.about: dict[str, Any] = self._ready.result(_START_TIMEOUT)
            if address is not None:
                self.call("open", address=address, codec=codec)
        except BaseException:
            self.kill()
            raise

    def submit(self, op: str, **arguments: Any) -> Future[Any]:
        """Sends a request; the future gets the raw JSON result. Requests run side by side in the peer."""
        future: Future[Any] = Future()
        # A request that was sent cannot be cancelled. A cancelled future would refuse its answer.
        future.set_running_or_notify_cancel()
        number = next(self._ids)
        line = json.dumps({"id": number, "op": op, **arguments}, allow_nan=False)
        with self._lock:
            if self._ended:
                raise PeerDied(self._obituary())
            self._pending[number] = future
            assert self._process.stdin is not None
            # When the pipe is broken the reader sees the same end, and fails this future with the rest.
            with suppress(OSError):
                self._process.stdin.write(line + "\n")
                self._process.stdin.flush()
        return future

    def call(self, op: str, *, timeout: float = _CALL_TIMEOUT, **arguments: Any) -> Any:
        """The raw JSON result of one request, or its PeerError."""
        return self.submit(op, **arguments).result(timeout)

    def call_many(self, op: str, items: Sequence[dict[str, Any]], **arguments: Any) -> list[Any]:
        """The results of one request for each item, one after the other. A failed one gives its PeerError."""
        answers: list[Any] = []
        for start in range(0, len(items), 200):
            answers += self.call("many", each=op, items=items[start : start + 200], **arguments)
        return [answer["result"] if answer["ok"] else PeerError(answer["error"]) for answer in answers]

    def close(self) -> None:
        """Lets the peer shut down its clients and waits for its exit."""
        self._hang_up()
        try:
            self._process.wait(_CALL_TIMEOUT)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._reap()

    def kill(self) -> None:
        """Ends the JVM at once, as a crash would."""
        self._process.kill()
        self._reap()

    @property
    def stderr(self) -> str:
        """The JVM's log so far."""
        if self._last_words is not None:
            return self._last_words
        return Path(self._stderr.name).read_text("utf-8", "replace")

    def __enter__(self) -> JavaPeer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._process.stdout as lines:
            for line in lines:
                answer = json.loads(line)
                if "ready" in answer:
                    self._ready.set_result(answer)
                    continue
                with self._lock:
                    future = self._pending.pop(answer["id"])
                if answer["ok"]:
                    future.set_result(answer["result"])
                else:
                    future.set_exception(PeerError(answer["error"]))
        self._process.wait()
        with self._lock:
            self._ended = True
            orphans = [self._ready, *self._pending.values()]
            self._pending.clear()
        for future in orphans:
            if not future.done():
                future.set_exception(PeerDied(self._obituary()))

    def _obituary(self) -> str:
        return f"Redisson {self.version} ended with status {self._process.poll()}\n{self.stderr[-4000:]}"

    def _hang_up(self) -> None:
        assert self._process.stdin is not None
        # With a dead peer, unwritten data stays in the pipe's buffer.
        with suppress(OSError):
            self._process.stdin.close()

    def _reap(self) -> None:
        self._hang_up()
        self._reader.join()
        if self._last_words is None:
            self._last_words = self.stderr
            self._stderr.close()


# Values


@dataclass(frozen=True)
class Typed:
    """A Java value that has no Python type: its class name and its body in typed JSON."""

    java: str
    body: Any


_MAPS = ("java.util.HashMap", "java.util.LinkedHashMap", "java.util.TreeMap")
_LISTS = ("java.util.ArrayList", "java.util.LinkedList")
_SETS = ("java.util.HashSet", "java.util.LinkedHashSet", "java.util.TreeSet")


def _float_text(value: float) -> str:
    if math.isfinite(value):
        return repr(float(value))
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _int_text(value: int) -> str:
    return str(int(value))


def _date_text(value: datetime) -> str:
    return str((value - _EPOCH) // timedelta(milliseconds=1))


def _date(text: str) -> datetime:
    return _EPOCH + timedelta(milliseconds=int(text))


@dataclass(frozen=True)
class _Scalar:
    """A Java type that crosses as text, under the Python class name that stands for it."""

    python: str
    java: str
    parse: Callable[[str], Any]
    text: Callable[[Any], str] = str


_SCALARS = (
    _Scalar("Byte", "java.lang.Byte", int, _int_text),
    _Scalar("Short", "java.lang.Short", int, _int_text),
    _Scalar("Integer", "java.lang.Integer", int, _int_text),
    _Scalar("Long", "java.lang.Long", int, _int_text),
    _Scalar("BigInteger", "java.math.BigInteger", int, _int_text),
    _Scalar("Float", "java.lang.Float", float, _float_text),
    _Scalar("Double", "java.lang.Double", float, _float_text),
    _Scalar("Character", "java.lang.Character", str),
    _Scalar("Decimal", "java.math.BigDecimal", Decimal),
    _Scalar("UUID", "java.util.UUID", uuid.UUID),
    _Scalar("datetime", "java.util.Date", _date, _date_text),
    _Scalar("bytes", "byte[]", base64.b64decode, lambda value: base64.b64encode(value).decode()),
)
_BY_PYTHON = {scalar.python: scalar for scalar in _SCALARS}
_BY_JAVA = {scalar.java: scalar for scalar in _SCALARS}


def to_json(value: Any) -> Any:
    """The typed JSON of a Python value. The name of its class decides the Java type."""
    kind = type(value)
    if value is None or kind in (bool, int, str) or (kind is float and math.isfinite(value)):
        return value
    if kind is float:
        return {"$": "java.lang.Double", "v": _float_text(value)}
    if kind is list:
        return [to_json(item) for item in value]
    if kind is dict:
        if all(type(key) is str and not key.startswith("$") for key in value):
            return {key: to_json(item) for key, item in value.items()}
        return {"$": "java.util.LinkedHashMap", "v": [[to_json(k), to_json(v)] for k, v in value.items()]}
    if kind in (set, frozenset):
        return {"$": "java.util.HashSet", "v": [to_json(item) for item in value]}
    if isinstance(value, Typed):
        return {"$": value.java, "v": value.body}
    scalar = _BY_PYTHON.get(kind.__name__)
    if scalar is None:
        raise TypeError(f"no Java type for {kind.__name__}; use Typed")
    return {"$": scalar.java, "v": scalar.text(value)}


def from_json(node: Any) -> Any:
    """The Python value of typed JSON. The kind of a Java collection is lost: look at the JSON for it."""
    if isinstance(node, list):
        return [from_json(item) for item in node]
    if not isinstance(node, dict):
        return node
    if "$repeat" in node:
        text, times = node["$repeat"]
        return text * times
    if "$" not in node:
        return {key: from_json(item) for key, item in node.items()}
    java, body = node["$"], node["v"]
    if java in _MAPS:
        return {from_json(key): from_json(item) for key, item in body}
    if java in _LISTS:
        return from_json(body)
    if java in _SETS:
        return {from_json(item) for item in body}
    scalar = _BY_JAVA.get(java)
    return Typed(java, body) if scalar is None else _marked(scalar.python, scalar.parse(body))


def _marked(name: str, value: Any) -> Any:
    """The value as the library's own class of that name, if there is one."""
    try:
        kind = getattr(importlib.import_module("redisson_dq.java"), name, None)
    except ImportError:
        return value
    return value if kind is None or isinstance(value, kind) else kind(value)


if __name__ == "__main__":
    # The Redissons to build: python -m tests.peer 4.7.0
    for chosen in sys.argv[1:] or VERSIONS:
        print(build(chosen))
