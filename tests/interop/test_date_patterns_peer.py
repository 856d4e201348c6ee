"""Dates and times in patterns, beside a Java whose fields or mapper have them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from datetime import date, datetime, time, timedelta, timezone
from pathlib import Path
from typing import Annotated, Any

import attrs
import pytest

from redisson_dq import java
from redisson_dq.cli import main
from redisson_dq.codecs import Codec, JsonJacksonCodec, TypedJsonJacksonCodec
from redisson_dq.errors import DecodeError, EncodeError
from redisson_dq.java import JavaType, java_class
from redisson_dq.java.registry import declaration_of
from redisson_dq.java.zones import time_zone_id
from tests.interop.conftest import NEWEST_BY_DAY
from tests.interop.mappers import SOURCES, Mappers
from tests.interop.programs import JavaProgram

SECONDS = "yyyy-MM-dd HH:mm:ss"
MAPPER = {
    "java.util.Date": (SECONDS, "Asia/Shanghai"),
    "java.time.LocalDateTime": SECONDS,
    "java.time.LocalDate": "yyyy-MM-dd",
    "java.time.LocalTime": "HH:mm:ss",
}


@java_class(
    "mappers.Dated",
    json=java.Json(
        patterns={
            "created": (SECONDS, "GMT+8"),
            "updated": SECONDS,
            "day": "yyyy-MM-dd",
            "paid": ("yyyy-MM-dd HH:mm:ss.SSS", "Europe/Berlin"),
            "sent": ("yyyy-MM-dd'T'HH:mm:ss.SSSXXX", "America/New_York"),
            "packed": ("yyyyMMddHHmmssZ", "Asia/Kolkata"),
            "due": SECONDS,
            "german": "dd.MM.yyyy 'um' HH:mm",
            "fine": "uuuu-MM-dd HH:mm:ss.SSSSSS",
            "birthday": "yyyy/MM/dd",
            "opens": "HH:mm",
            "at": (SECONDS, "Asia/Tokyo"),
            "dates": ("yyyy-MM-dd HH:mm", "GMT-3"),
            "days": "yyyy-MM-dd",
            "byName": SECONDS,
        }
    ),
)
@attrs.define
class Dated:
    created: java.JavaDate | None = None
    updated: java.JavaDate | None = None
    day: java.JavaDate | None = None
    paid: java.Timestamp | None = None
    sent: java.JavaDate | None = None
    packed: java.JavaDate | None = None
    due: java.LocalDateTime | None = None
    german: java.LocalDateTime | None = None
    fine: java.LocalDateTime | None = None
    birthday: date | None = None
    opens: java.LocalTime | None = None
    at: java.Instant | None = None
    dates: list[java.JavaDate] | None = None
    days: Annotated[Any, JavaType("java.time.LocalDate[]")] = None
    byName: dict[str, java.LocalDateTime] | None = None
    plainDate: java.JavaDate | None = None
    plainTime: java.LocalDateTime | None = None
    plainDay: date | None = None
    plainClock: java.LocalTime | None = None
    byDate: dict[java.JavaDate, str] | None = None


#: A mapper of Java's, and the options that say so.
OPTIONS: dict[str, dict[str, Any]] = {
    "fields": {"java_time": "numbers"},
    "fields@GMT+8": {"java_time": "numbers", "time_zone": "GMT+8"},
    "fields@America/Sao_Paulo": {"java_time": "numbers", "time_zone": "America/Sao_Paulo"},
    "mapper": {"java_time": "text", "patterns": MAPPER},
}


@pytest.fixture(scope="module", params=NEWEST_BY_DAY)
def mappers(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mappers]:
    classes = tmp_path_factory.mktemp("dates")
    program = JavaProgram("mappers.Driver", SOURCES, classes, version=request.param)
    with closing(Mappers(program, request.param)) as made:
        yield made


def _codecs(mapper: str, version: str) -> dict[str, Codec[Any]]:
    options = OPTIONS[mapper]
    return {
        f"JsonJacksonCodec {mapper}": JsonJacksonCodec(redisson=version, **options),
        f"TypedJsonJacksonCodec {mapper} mappers.Dated": TypedJsonJacksonCodec(Dated, redisson=version, **options),
    }


@pytest.mark.parametrize("mapper", OPTIONS)
def test_patterns_are_read_and_written_as_java_does(mappers: Mappers, mapper: str) -> None:
    for spec, codec in _codecs(mapper, mappers.version).items():
        mappers.check(spec, "dates", codec)


@pytest.mark.parametrize("mapper", OPTIONS)
def test_java_finds_just_the_change(mappers: Mappers, mapper: str) -> None:
    moved = datetime(2031, 2, 3, 4, 5, tzinfo=timezone.utc)
    for spec, codec in _codecs(mapper, mappers.version).items():
        [row] = [row for row in mappers.written(spec, "dates") if row.name == "winter"]
        whole = codec.decode(row.data)
        for name, value, java_text in (
            ("created", java.JavaDate(moved), f"Date{int(moved.timestamp())}000"),
            ("updated", java.JavaDate(moved), f"Date{int(moved.timestamp())}000"),
            ("german", moved.replace(tzinfo=None), "2031-02-03T04:05"),
            ("birthday", moved.date(), "2031-02-03"),
            ("opens", time(4, 5), "04:05"),
            ("at", moved, "2031-02-03T04:05:00Z"),
        ):
            [read] = mappers.read(spec, codec.encode(attrs.evolve(whole, **{name: value})))
            before, after = row.text.split(), read.split()
            assert [new for old, new in zip(before, after, strict=True) if new != old] == [java_text]


def test_what_a_pattern_has_no_place_for_is_refused(mappers: Mappers) -> None:
    codec = JsonJacksonCodec(java_time="numbers")
    first = datetime(2026, 10, 25, 0, 30, tzinfo=timezone.utc)  # the first 02:30 of Berlin's two
    for made in (
        Dated(created=java.JavaDate(datetime(2026, 1, 1, 1, 1, 1, 5000, timezone.utc))),
        Dated(day=java.JavaDate(datetime(2026, 1, 1, 1, tzinfo=timezone.utc))),
        Dated(due=java.LocalDateTime(datetime(2026, 1, 1, 1, 1, 1, 1))),
        Dated(paid=java.Timestamp(first)),
        Dated(created=java.JavaDate(datetime(1500, 1, 1, tzinfo=timezone.utc))),
    ):
        with pytest.raises(EncodeError, match=r"pattern|October 1582"):
            codec.encode(made)
    [read] = mappers.read(
        "JsonJacksonCodec fields", codec.encode(Dated(paid=java.Timestamp(first + timedelta(hours=1))))
    )
    assert f"Timestamp{int(first.timestamp()) + 3600}000" in read


def test_texts_in_a_pattern_name_the_way_to_read_them(mappers: Mappers) -> None:
    for codec in (JsonJacksonCodec(), JsonJacksonCodec(java_time="text")):
        for row in mappers.written("JsonJacksonCodec mapper", "dates")[:3]:
            with pytest.raises(
                DecodeError, match=r"give a pattern, as 'yyyy-MM-dd HH:mm:ss', if Java has one: .* patterns="
            ) as caught:
                codec.decode(row.data)
            assert "make it again" not in str(caught.value)


@pytest.mark.nightly
def test_the_patterns_are_generated_from_the_jar(tmp_path: Path) -> None:
    program = JavaProgram("mappers.Driver", SOURCES, tmp_path / "classes")
    made = tmp_path / "generated_dates.py"
    with closing(program):
        assert main(["generate-classes", str(tmp_path / "classes"), "mappers.Dated", "-o", str(made)]) == 0
    text = made.read_text("utf-8")
    assert "refused=" not in text
    said = re.sub(r"\s+", "", text)
    declaration = declaration_of("mappers.Dated")
    assert declaration is not None
    for name, pattern in declaration.json.patterns.items():
        written = repr(pattern.text) if pattern.zone is None else repr((pattern.text, time_zone_id(pattern.zone)))
        assert re.sub(r"\s+", "", f'"{name}": {written}').replace("'", '"') in said.replace("'", '"')
