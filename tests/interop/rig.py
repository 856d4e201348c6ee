"""Java that writes samples of a class by each codec, and reads what Python wrote: ``java/shapes``, ``java/cells``."""

from __future__ import annotations

import sys
from importlib import util
from pathlib import Path
from typing import Any

from redisson_dq.codecs import (
    CborJacksonCodec,
    Codec,
    IonJacksonCodec,
    JsonJackson3Codec,
    JsonJacksonCodec,
    Kryo5Codec,
    SerializationCodec,
)
from tests.interop.programs import JAVA, JavaProgram

SOURCES = [source for package in ("shapes", "cells") for source in sorted((JAVA / package).glob("*.java"))]
CODECS: dict[str, Codec] = {
    codec.name: codec
    for codec in (
        *(Kryo5Codec(), SerializationCodec(), JsonJacksonCodec(java_time="numbers"), JsonJackson3Codec()),
        *(CborJacksonCodec(), IonJacksonCodec()),
    )
}


def module_of(path: Path) -> Any:
    """The module in a file."""
    spec = util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    sys.modules[path.stem] = module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Rig:
    """The program in ``java/shapes``."""

    def __init__(self, classes: Path, *more: Path) -> None:
        self.classes = classes
        self._program = JavaProgram("shapes.Rig", SOURCES, classes, *more)

    def close(self) -> None:
        self._program.close()

    def samples(self, name: str) -> tuple[dict[tuple[str, str], bytes], dict[str, str], set[tuple[str, str]]]:
        """By sample and codec what Java writes; the text of each sample; and what Java itself reads back the same."""
        lines = self._program.call("write", name)
        cut = lines.index("TEXTS")
        rows = [line.split("\t", 3) for line in lines[:cut]]
        written = {(row[0], row[1]): bytes.fromhex(row[2]) for row in rows if row[2] != "ENC"}
        texts = dict(line.split("\t", 1) for line in lines[cut + 1 :])
        return written, texts, {(row[0], row[1]) for row in rows if row[3] == "same"}

    def texts(self, values: list[tuple[str, bytes]], command: str = "read") -> list[str]:
        """Of each value, by codec, what Java reads; or what comes of its use."""
        sent = "".join(f"{codec}\t{data.hex()}\n" for codec, data in values)
        return [line.split("\t")[0] for line in self._program.call(command, sent=sent)]
