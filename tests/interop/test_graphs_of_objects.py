"""Java writes random graphs of objects. Python reads them, and writes the same bytes, shared objects included."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any
from uuid import UUID

import attrs
import pytest

from redisson_dq import java
from redisson_dq.codecs import Codec, JsonJacksonCodec, Kryo5Codec, SerializationCodec
from redisson_dq.java import java_class
from tests.conftest import by_night
from tests.interop.programs import JAVA, JavaProgram

CODECS: dict[str, Codec] = {codec.name: codec for codec in (Kryo5Codec(), JsonJacksonCodec(), SerializationCodec())}
SEEDS, SEEDS_AT_NIGHT = 100, 300


@java_class("Graphs$Lvl", constant_bodies={"LOW": "Graphs$Lvl$1", "HIGH": "Graphs$Lvl$2"})
class Lvl(Enum):
    LOW = "LOW"
    HIGH = "HIGH"
    MID = "MID"


@java_class("Graphs$Node", serial_version_uid=5)
@attrs.define
class Node:
    a: Any = None
    s: str | None = None
    n: java.long | None = None
    d: java.JavaDate | None = None
    b: bool | None = None
    items: list[Any] | None = None
    dec: Decimal | None = None
    next: Node | None = None
    raw: bytes | None = None
    tags: set[str] | None = None
    map: dict[str, Any] | None = None
    lvl: Lvl | None = None
    i: int | None = None
    x: float | None = None
    id: UUID | None = None


@pytest.mark.parametrize("seeds", [SEEDS, by_night(SEEDS_AT_NIGHT)])
def test_what_java_shares_stays_shared(tmp_path: Path, seeds: int) -> None:
    with JavaProgram("Graphs", [JAVA / "Graphs.java"], tmp_path) as program:
        lines = program.call("0", str(seeds))
    count: Counter[str] = Counter()
    other = []
    for line in lines:
        seed, name, text = line.split()
        count[name] += 1
        if CODECS[name].encode(CODECS[name].decode(bytes.fromhex(text))).hex() != text:
            other.append((name, seed))
    assert other == []
    assert all(count[name] > seeds // 2 for name in CODECS)
