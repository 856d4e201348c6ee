"""Java whose mappers have settings of their own: the program in ``java/mappers``."""

from __future__ import annotations

from typing import Any

import attrs

from redisson_dq.codecs import Codec
from tests.interop.programs import JAVA, JavaProgram

__all__ = ["SOURCES", "Mappers", "Row"]

SOURCES = sorted((JAVA / "mappers").glob("*.java"))


@attrs.frozen
class Row:
    """A sample: its name, Java's bytes, and the text of what Java reads of them."""

    name: str
    data: bytes
    text: str


class Mappers:
    """The program in ``java/mappers``."""

    def __init__(self, program: JavaProgram, version: str) -> None:
        self._program, self.version, self.close = program, version, program.close

    def written(self, spec: str, what: str) -> list[Row]:
        rows = (line.split("\t") for line in self._program.call("write", spec, what))
        return [Row(name, bytes.fromhex(data), text) for name, data, text in rows]

    def read(self, spec: str, *values: bytes) -> list[str]:
        return self._program.call("read", spec, sent="\n".join(value.hex() for value in values))

    def check(self, spec: str, what: str, codec: Codec[Any]) -> None:
        """That Python reads each sample, writes it to Java's bytes, and that Java reads these."""
        rows = self.written(spec, what)
        assert len(rows) >= 5
        for row in rows:
            written = codec.encode(codec.decode(row.data))
            assert written == row.data
            assert self.read(spec, written) == [row.text]
