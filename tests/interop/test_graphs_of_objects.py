"""Java writes random graphs of objects. Python reads them, and writes the same bytes, shared objects included."""

from __future__ import annotations

import os
import subprocess
from collections import Counter
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any
from uuid import UUID

import attrs

from redisson_dq import java
from redisson_dq.codecs import Codec, JsonJacksonCodec, Kryo5Codec, SerializationCodec
from redisson_dq.java import java_class
from tests.peer import VERSIONS, build

SOURCE = Path(__file__).parent / "java" / "Graphs.java"
CODECS: dict[str, Codec] = {codec.name: codec for codec in (Kryo5Codec(), JsonJacksonCodec(), SerializationCodec())}
SEEDS = 300


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


def test_what_java_shares_stays_shared(tmp_path: Path) -> None:
    target = build(VERSIONS[0])
    classpath = os.pathsep.join((str(tmp_path), str(target / "classes"), str(target / "lib" / "*")))
    options = ["-encoding", "UTF-8", "-nowarn", "-proc:none", "-d", str(tmp_path), "-cp", classpath]
    subprocess.run(["javac", *options, str(SOURCE)], check=True, stderr=subprocess.DEVNULL)
    command = ["java", "-Xlog:disable", "-cp", classpath, "Graphs", "0", str(SEEDS)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=True)
    count: Counter[str] = Counter()
    other = []
    for line in done.stdout.splitlines():
        seed, name, text = line.split()
        count[name] += 1
        if CODECS[name].encode(CODECS[name].decode(bytes.fromhex(text))).hex() != text:
            other.append((name, seed))
    assert other == []
    assert all(count[name] > SEEDS // 2 for name in CODECS)
