"""Java programs, compiled once, and called in a persistent JVM, whose start takes longer than most calls."""

from __future__ import annotations

import os
import struct
import subprocess
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import IO, Any, final

from tests.peer import JAVAC, JVM, VERSIONS, build

JAVA = Path(__file__).parent / "java"
_CALLS = JAVA / "Calls.java"
_NUMBER = struct.Struct(">i")


@final
class JavaProgram:
    """A program that is compiled into ``classes``, beside a Redisson. Its JVM starts with the first call."""

    def __init__(
        self, main: str, sources: Iterable[Path], classes: Path, *more: Path, version: str = VERSIONS[0]
    ) -> None:
        target = build(version)
        classpath = os.pathsep.join(map(str, (classes, *more, target / "classes", target / "lib" / "*")))
        options = ["-encoding", "UTF-8", "-nowarn", "-proc:none", "-d", str(classes), "-cp", classpath]
        command = [*JAVAC, *options, *map(str, (_CALLS, *sources))]
        compiled = subprocess.run(command, check=False, capture_output=True, encoding="utf-8")
        assert compiled.returncode == 0, compiled.stderr
        # A program's texts are the same in every locale.
        flags = ("-Xlog:disable", "-Dfile.encoding=UTF-8")
        self._command = [*JVM, *flags, "-cp", classpath, "Calls", main]
        self._process: subprocess.Popen[bytes] | None = None

    def call(self, *arguments: str, sent: str = "") -> list[str]:
        """The lines that the program prints."""
        if self._process is None:
            self._process = subprocess.Popen(self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        to, back = self._process.stdin, self._process.stdout
        assert to is not None
        assert back is not None
        parts = [text.encode() for text in (*arguments, sent)]
        to.write(_NUMBER.pack(len(arguments)) + b"".join(_NUMBER.pack(len(part)) + part for part in parts))
        to.flush()
        failed = _exactly(back, 1)
        printed = _exactly(back, *_NUMBER.unpack(_exactly(back, _NUMBER.size))).decode()
        assert failed == b"\0", printed
        return printed.removesuffix("\n").split("\n") if printed else []

    def close(self) -> None:
        if self._process is not None:
            self._process.communicate()

    def __enter__(self) -> JavaProgram:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _exactly(stream: IO[Any], size: int) -> bytes:
    data: bytes = stream.read(size)
    assert len(data) == size, "the JVM has ended"
    return data
