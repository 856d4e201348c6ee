"""Java writes random values of many classes. Python writes the same bytes of them, or knows that it does not.

What Python reads, it can write, unless Java itself does not read back what it wrote.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from redisson_dq import codecs
from redisson_dq.cli import main
from redisson_dq.codecs.marks import has_no_room, other_bytes
from redisson_dq.errors import DecodeError, EncodeError
from redisson_dq.java.registry import declaration_of
from tests.interop.rig import module_of
from tests.peer import JAVAC, VERSIONS, build

SOURCES = Path(__file__).parent / "java" / "random"
SEEDS = 1000
LINE = re.compile(r"[0-9]+ \S+ (?:[0-9a-f]{2})+ (?:back|lost)")


def codec_named(name: str) -> codecs.Codec:
    kind, _, java_name = name.partition(":")
    if kind == "Kryo5Codec+refs":
        return codecs.Kryo5Codec(references=True)
    made: Any = getattr(codecs, kind)
    declaration = declaration_of(java_name)
    codec: codecs.Codec = made() if declaration is None else made(declaration.python)
    return codec


@pytest.mark.nightly
def test_other_bytes_are_known(tmp_path: Path) -> None:
    target = build(VERSIONS[0])
    classpath = os.pathsep.join((str(tmp_path), str(target / "classes"), str(target / "lib" / "*")))
    options = ["-encoding", "UTF-8", "-nowarn", "-proc:none", "-d", str(tmp_path), "-cp", classpath]
    subprocess.run([*JAVAC, *options, *map(str, SOURCES.glob("*.java"))], check=True, stderr=subprocess.DEVNULL)
    module = tmp_path / "random_shapes.py"
    assert main(["generate-classes", str(tmp_path), "random.Shapes$*", "-o", str(module)]) == 0
    module_of(module)

    lines: list[str] = []
    seed = 0
    while seed < SEEDS:
        command = ["java", "-Xlog:disable", "-XX:ErrorFile=/dev/null", "-XX:+UseSerialGC", "-cp", classpath]
        done = subprocess.run(
            [*command, "random.Values", str(seed), str(SEEDS)], check=False, capture_output=True, encoding="utf-8"
        )
        lines += [line for line in done.stdout.splitlines() if LINE.fullmatch(line)]
        # Kryo takes some type arguments for others, and the JVM dies of it.
        seed = SEEDS if done.returncode == 0 else int(lines[-1].split()[0]) + 1
    count: Counter[str] = Counter()
    unknown = []
    refused = []
    for line in lines:
        number, name, text, back = line.split()
        codec = codec_named(name)
        try:
            value = codec.decode(bytes.fromhex(text))
        except DecodeError:
            continue  # an error is no other bytes
        try:
            written = codec.encode(value).hex()
        except EncodeError as error:
            if back == "back":  # else Java cannot read it either
                refused.append((number, name, str(error)))
            continue
        count[codec.name] += 1
        if not has_no_room(value) and bool(other_bytes(value)) != (written != text):
            unknown.append((number, name))
    assert unknown == []
    assert refused == []
    assert len(count) == 10
    assert min(count.values()) > SEEDS // 5
