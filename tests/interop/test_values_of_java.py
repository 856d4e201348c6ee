"""Locales, time zones and boxes of numbers: what Python takes for Java's, Java reads as the same value."""

from __future__ import annotations

import datetime as dt
import itertools
from collections.abc import Callable
from importlib import resources
from typing import Any

import pytest

from redisson_dq import java
from redisson_dq.codecs import Codec, JsonJackson3Codec, JsonJacksonCodec, Kryo5Codec, SerializationCodec
from redisson_dq.errors import EncodeError
from tests.peer import VERSIONS, JavaPeer

NOON = dt.datetime(2024, 2, 29, 12, tzinfo=dt.timezone.utc)
#: Zones of 2025 and later, which a JVM may not know yet.
NEW = {"America/Coyhaique"}
REGIONS = [*resources.files("redisson_dq.java").joinpath("zones.txt").read_text("utf-8").split(), "PST", "EST", "JST"]
TIME_ZONES = [java.TimeZone(zone) for zone in (*REGIONS, "GMT+2", "GMT-0230", "GMT+23:59") if zone not in NEW]
LOCALES = [
    java.Locale(*parts)
    for parts in itertools.product(
        ("", "de", "DE", "!!", "d e", "abcdefghi", "ja"),
        ("", "DE", "Germany", "276", "D_E", "JP"),
        ("", "POSIX", "a b", "1abc_polyton", "JP", "x_#y", "#Latn"),
        ("", "latn"),
        ("", "u-nu-latn-co-phonebk", "a-b1", "x-a", "a-b1-u-co", "u-attr-co-b1c"),
    )
]
VALUES: list[Any] = [
    *LOCALES,
    *TIME_ZONES,
    *(java.GregorianCalendar(NOON, zone) for zone in TIME_ZONES),
    *(java.ZoneId(text) for text in ("UTC+2", "GMT+0200", "UT-02:00:15", "UTC+00", "UTC-18", "UT", "GMT", "UTC")),
    *(java.ZoneId(zone) for zone in REGIONS if zone not in NEW and "/" in zone),
    *(java.OptionalDouble(5), java.OptionalInt(-(1 << 31)), java.OptionalLong((1 << 63) - 1)),
    *(java.AtomicInteger((1 << 31) - 1), java.AtomicLong(-(1 << 63)), java.AtomicBoolean(True)),
    *(java.CharArray("\U0001f600"), java.StackTraceElement("C", "m", "C.java", (1 << 31) - 1)),
    *(java.FarTime("java.time.LocalDate", (-4, 2, 29)), java.FarTime("java.util.Date", (-(1 << 63),))),
]


@pytest.mark.parametrize(
    ("codec", "least"),
    [(Kryo5Codec(), 1500), (SerializationCodec(), 3500), (JsonJacksonCodec(), 800), (JsonJackson3Codec(), 1200)],
    ids=lambda codec: getattr(codec, "name", None),
)
def test_java_reads_what_python_writes(peers: Callable[[str], JavaPeer], codec: Codec, least: int) -> None:
    sent: list[tuple[Any, bytes]] = []
    for value in VALUES:
        try:
            sent.append((value, codec.encode([value])))
        except EncodeError:
            continue
    assert len(sent) > least
    answers = peers(VERSIONS[0]).call("recode_many", codec=codec.name, items=[data.hex() for _, data in sent])
    others: list[Any] = []
    for (value, _), answer in zip(sent, answers, strict=True):
        back = codec.decode(bytes.fromhex(answer["hex"])) if "hex" in answer else answer
        # Jackson 3 reads a language that is none, and writes und.
        if back != [value] and (codec.name != "JsonJackson3Codec" or answer.get("text") != f"[{value.language}]"):
            others.append((value, back))
    assert others == []
