"""Optionals and elements of stack traces in fields, lists, maps and arrays: Java's JSON, and Java reads ours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs

from redisson_dq import java
from redisson_dq.codecs import Codec, JsonJackson3Codec, JsonJacksonCodec, SmileJacksonCodec
from redisson_dq.java import Long, Optional, StackTraceElement, java_class
from tests.interop.programs import JAVA, JavaProgram

CODECS: list[Codec] = [JsonJackson3Codec(), JsonJacksonCodec(java_time="numbers")]


@java_class("Held")
@attrs.define
class Held:
    full: Optional[str]
    empty: Optional[str]
    nested: Optional[Optional[str]]
    reference: Optional[java.AtomicReference[str]]
    items: Optional[list[int]]
    number: java.OptionalInt
    many: list[Optional[str]]
    mapped: dict[str, Optional[Long]]
    array: java.Array[Optional[str]]
    at: StackTraceElement | None
    nowhere: StackTraceElement | None
    trace: list[StackTraceElement]
    frames: java.Array[StackTraceElement | None]
    any: Any


def held() -> Held:
    at = StackTraceElement("C", "m", "C.java", 5, "app", "base", "17")
    return Held(
        full=Optional("a"),
        empty=Optional(),
        nested=Optional(Optional()),
        reference=Optional(java.AtomicReference()),
        items=Optional([1]),
        number=java.OptionalInt(),
        many=[Optional("b"), Optional()],
        mapped=java.TreeMap({"x": Optional(), "y": Optional(Long(5))}),
        array=java.Array("java.util.Optional", [Optional(), Optional("c")]),
        at=at,
        nowhere=None,
        trace=[StackTraceElement("C", "m", None, -2)],
        frames=java.Array("java.lang.StackTraceElement", [at, None]),
        any=StackTraceElement("D", "n", "D.java", 7),
    )


def test_held_values_are_as_java_writes_and_reads_them(tmp_path: Path) -> None:
    sent = "".join(f"{codec.name} {codec.encode(held()).decode()}\n" for codec in CODECS)
    with JavaProgram("Held", [JAVA / "Held.java"], tmp_path) as program:
        *written, text, first, second = [line for line in program.call(sent=sent) if line]
    assert (first, second) == (text, text)
    for codec, line in zip(CODECS, written, strict=True):
        name, _, sample = line.partition(" ")
        assert name == codec.name
        assert codec.decode(sample.encode()) == held()
        assert codec.encode(held()).decode() == sample


def test_elements_of_a_trace_by_themselves() -> None:
    value = [StackTraceElement("C", "m", "C.java", 5), {"a": StackTraceElement("C", "m")}]
    for codec in (*CODECS, SmileJacksonCodec()):
        assert codec.decode(codec.encode(value)) == value
