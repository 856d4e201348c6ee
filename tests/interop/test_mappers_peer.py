"""Codecs beside a Java whose mapper has a naming strategy, a default typing or serializers of its own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import closing
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any
from uuid import UUID

import attrs
import pytest

from redisson_dq import codecs, java
from redisson_dq.codecs import Codec, JsonJacksonCodec, TypedJsonJacksonCodec
from redisson_dq.codecs.jackson.naming import NAMINGS
from redisson_dq.errors import DecodeError, EncodeError
from redisson_dq.java import JavaType, java_class
from tests.interop.conftest import NEWEST_BY_DAY
from tests.interop.mappers import SOURCES, Mappers
from tests.interop.programs import JavaProgram

NAMED = ("JsonJacksonCodec", "CborJacksonCodec", "SmileJacksonCodec", "MsgPackJacksonCodec", "IonJacksonCodec")
TYPINGS = ("wrapper_array", "property")


@java_class("mappers.Driver$Level")
class Level(Enum):
    LOW = 0
    HIGH = 1


@java_class("mappers.Driver$Part")
@attrs.define
class Part:
    partNumber: str | None = None
    longId: java.Long | None = None


@java_class("mappers.Driver$Job", json={"givenName": "Fixed_Name"})
@attrs.define
class Job(Part):
    retryCount: Annotated[int, JavaType("int")] = 0
    aURL: str | None = None
    x2Y: str | None = None
    unitPrice: Decimal | None = None
    topLevel: Level | None = None
    traceId: UUID | None = None
    anyValue: Any = None
    mainPart: Part | None = None
    allParts: list[Part] | None = None
    extraData: dict[str, Any] | None = None
    givenName: str | None = None


@java_class("mappers.Numbers")
@attrs.define
class Numbers:
    id: java.Long | None = None
    count: Annotated[int, JavaType("long")] = 0
    size: int | None = None
    any: Any = None
    number: Annotated[Any, JavaType("java.lang.Number")] = None
    ids: Annotated[Any, JavaType("java.lang.Long[]")] = None
    raw: Annotated[Any, JavaType("long[]")] = None
    grid: Annotated[Any, JavaType("long[][]")] = None
    list: Annotated[Any, JavaType("java.util.List<java.lang.Long>")] = None
    byName: dict[str, java.Long] | None = None
    byId: dict[java.Long, java.Long] | None = None
    mixed: Annotated[Any, JavaType("java.lang.Object[]")] = None
    big: java.BigInteger | None = None
    price: Decimal | None = None
    atomic: java.AtomicLong | None = None
    held: java.AtomicReference[java.Long] | None = None
    at: java.JavaDate | None = None


#: Modules of Java's mapper with ToStringSerializer, and the option that says so.
AS_TEXT = {
    "texts": ["java.lang.Long", "long"],
    "texts_boxed": ["java.lang.Long"],
    "texts_all": ["java.lang.Long", "long", "java.math.BigInteger", "java.math.BigDecimal"],
}


@pytest.fixture(scope="module", params=NEWEST_BY_DAY)
def mappers(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mappers]:
    version = request.param
    program = JavaProgram("mappers.Driver", SOURCES, tmp_path_factory.mktemp("mappers"), version=version)
    with closing(Mappers(program, version)) as made:
        yield made


@pytest.mark.parametrize("strategy", NAMINGS)
def test_each_naming_strategy_is_that_of_java(mappers: Mappers, strategy: str) -> None:
    for name in NAMED:
        codec = getattr(codecs, name)(naming=strategy, redisson=mappers.version)
        mappers.check(f"{name} {strategy}", "samples", codec)


@pytest.mark.parametrize("strategy", NAMINGS)
def test_a_typed_queue_has_the_names_of_java(mappers: Mappers, strategy: str) -> None:
    codec = TypedJsonJacksonCodec(Job, naming=strategy, redisson=mappers.version)
    spec = f"TypedJsonJacksonCodec {strategy} mappers.Driver$Job"
    data = codec.encode(Job("p", retryCount=2, mainPart=Part("q"), extraData={"someKey": 1}))
    assert mappers.read(spec, data) == [
        "Job(Part(p null) 2 null null null null null null Part(q null) null "
        "LinkedHashMap{String someKey=Integer 1} null)"
    ]
    [job] = [row for row in mappers.written(spec, "samples") if row.name == "job"]
    assert codec.encode(codec.decode(job.data)) == job.data


def test_names_in_another_spelling_are_refused_and_not_lost(mappers: Mappers) -> None:
    rows = mappers.written("JsonJacksonCodec snake_case", "samples")
    for row in rows[:4]:
        with pytest.raises(DecodeError, match=r"the bytes have \w+_\w+: give the codec naming='snake_case'"):
            JsonJacksonCodec(redisson=mappers.version).decode(row.data)


@pytest.mark.parametrize("typing", TYPINGS)
def test_default_typing_is_read_and_written_in_its_form(mappers: Mappers, typing: str) -> None:
    codec: Codec[Any] = TypedJsonJacksonCodec(object, typing=typing, redisson=mappers.version)
    for what in ("samples", "values"):
        mappers.check(f"TypedJsonJacksonCodec {typing}", what, codec)


@pytest.mark.parametrize("setting", AS_TEXT)
def test_numbers_are_texts_where_java_writes_them_so(mappers: Mappers, setting: str) -> None:
    mappers.check(f"JsonJacksonCodec {setting}", "numbers", JsonJacksonCodec(as_text=AS_TEXT[setting]))
    spec = f"TypedJsonJacksonCodec {setting} mappers.Numbers"
    codec = TypedJsonJacksonCodec(Numbers, as_text=AS_TEXT[setting])
    for row in mappers.written(spec, "numbers")[:4]:
        value = codec.decode(row.data)
        # Java itself reads other types where Object and Number are declared.
        value.number = value.mixed = None
        expected = {name: item for name, item in json.loads(row.data).items() if name not in ("number", "mixed")}
        assert json.loads(codec.encode(value)) == expected
        value.count, value.id = 12, java.Long(13)
        [read] = mappers.read(spec, codec.encode(value))
        assert read.startswith("Numbers(13 12 ")


def test_numbers_are_texts_beside_default_typing(mappers: Mappers) -> None:
    spec = "TypedJsonJacksonCodec texts_typed"
    codec: Codec[Any] = TypedJsonJacksonCodec(object, typing="wrapper_array", as_text=AS_TEXT["texts"])
    rows = [row for row in mappers.written(spec, "numbers") if not row.text.startswith("ERROR")]
    assert len(rows) == 9
    for row in rows:
        assert codec.encode(codec.decode(row.data)) == row.data
    assert mappers.read(spec, codec.encode(java.Long(5))) == ["Long 5"]


def test_a_name_with_half_of_a_surrogate_pair_is_written_where_java_reads_it(mappers: Mappers) -> None:
    older = JsonJacksonCodec(redisson="4.2")
    for key in ("\ud800", "a\udc00b", "\udc00\ud800"):
        value = {key: 1}
        [read] = mappers.read("JsonJacksonCodec none", older.encode(value))
        if mappers.version.startswith("4."):
            assert "surrogate" in read
            with pytest.raises(EncodeError, match="half of a surrogate pair"):
                JsonJacksonCodec(redisson=mappers.version).encode(value)
        else:
            assert re.fullmatch(r"LinkedHashMap\{String \S+=Integer 1\}", read)


@pytest.mark.parametrize("typing", TYPINGS)
def test_no_queue_is_given_the_other_form(mappers: Mappers, typing: str) -> None:
    [other] = {*TYPINGS} - {typing}
    others: list[Codec[Any]] = [TypedJsonJacksonCodec(object, typing=other), TypedJsonJacksonCodec(Job)]
    if typing == "wrapper_array":
        others.append(JsonJacksonCodec())
    [job] = [row for row in mappers.written(f"TypedJsonJacksonCodec {typing}", "samples") if row.name == "job"]
    for codec in others:
        with pytest.raises(DecodeError, match=rf'typing="{typing}"'):
            codec.decode(job.data)
