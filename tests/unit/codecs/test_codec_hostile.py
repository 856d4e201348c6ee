"""Values and bytes that were made to break a codec: each is one error of the codec, and soon."""

from __future__ import annotations

import contextlib
import enum
import functools
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, tzinfo
from decimal import Decimal
from typing import Any
from uuid import UUID

import attrs
import pytest

from redisson_dq import java
from redisson_dq.codecs import (
    ByteArrayCodec,
    CborJackson3Codec,
    CborJacksonCodec,
    Codec,
    DoubleCodec,
    IonJacksonCodec,
    JsonJackson3Codec,
    JsonJacksonCodec,
    Kryo5Codec,
    LongCodec,
    MsgPackJacksonCodec,
    ProtobufCodec,
    SerializationCodec,
    SmileJacksonCodec,
    StringCodec,
    TypedJsonJacksonCodec,
)
from redisson_dq.codecs.kryo5.wire import ascii_name, varint, varint_flag
from redisson_dq.errors import ArgumentError, DecodeError, EncodeError
from redisson_dq.java import java_class
from tests.conftest import as_many, by_night
from tests.unit.codecs.memory import peak_of

KRYO = Kryo5Codec()
SHARING = Kryo5Codec(references=True)
JAVA = SerializationCodec()
#: Python's ints have the hash of what is left when they are divided by it.
MODULUS = 2**61 - 1


@java_class("com.acme.hostile.Empty")
@attrs.define
class Empty:
    pass


@java_class("com.acme.hostile.Twins", serial_version_uid=1)
@attrs.frozen
class Twins:
    left: object = None
    right: object = None


@java_class("com.acme.hostile.Hashless", serial_version_uid=1)
@attrs.frozen
class Hashless:
    number: int = 0

    def __hash__(self) -> int:
        raise ZeroDivisionError


@java_class("com.acme.hostile.Holder", serial_version_uid=1)
@attrs.define
class Holder:
    held: object = None


@java_class("com.acme.hostile.Links")
@attrs.define
class Links:
    links: dict[java.Uri, int]


@java_class("com.acme.hostile.Flags")
class Flags(enum.Flag):
    A = 1
    B = 2


def named(number: int, name: str) -> bytes:
    """A class as Kryo names it the first time, the ``number``-th of the value."""
    return b"\x01" + varint(number) + ascii_name(name)


def seconds_of(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def refused(codec: Codec, data: bytes) -> str:
    with pytest.raises(DecodeError) as caught:
        codec.decode(data)
    assert caught.value.data == data
    return str(caught.value)


# Bytes


def twins(depth: int) -> Any:
    value = Twins()
    for _ in range(depth):
        value = Twins(value, value)
    return value


def test_an_element_that_takes_too_long_to_hash_is_refused() -> None:
    data = SHARING.encode([java.Elements("java.util.HashSet", [twins(60)])])
    assert "too often" in refused(SHARING, data)
    data = SHARING.encode(java.Entries("java.util.HashMap", [(twins(60), 1)]))
    assert "too often" in refused(SHARING, data)
    for codec in (SHARING, JAVA):  # Python hashes up to the first element without a hash
        assert "too often" in refused(codec, codec.encode(java.Elements("java.util.HashSet", [twins(60), [1]])))
    few = [twins(8)]
    assert SHARING.decode(SHARING.encode(java.Elements("java.util.HashSet", few))) == {few[0]}


@pytest.mark.parametrize("codec", [SHARING, JAVA], ids=["Kryo", "Serialization"])
def test_a_key_of_shared_lists_does_not_stand_in_the_message(codec: Codec) -> None:
    key: list[Any] = []
    for _ in range(60):
        key = [key, key]
    data = codec.encode(java.Entries("java.util.HashMap", [(key, Twins())]))
    message = refused(codec, data.replace(b"hostile.Twin", b"hostile.Nobo"))
    assert len(message) < 1000


@pytest.mark.parametrize("codec", [KRYO, SHARING, JAVA], ids=["Kryo", "sharing", "Serialization"])
@pytest.mark.parametrize("kind", ["numbers", "UUIDs"])
@pytest.mark.parametrize("others", [by_night(0), 1_000], ids=["all", "most"])
def test_keys_and_elements_of_one_hash_are_refused(codec: Codec, kind: str, others: int) -> None:
    keys: list[Any] = [UUID(int=n * MODULUS) for n in range(1, 4_000)]
    if kind == "numbers":
        keys = [java.BigInteger(n * MODULUS) for n in range(10, 4_000)]
    keys += range(others)
    for value in (
        java.Elements("java.util.HashSet", keys),
        java.Entries("java.util.HashMap", [(key, None) for key in keys]),
    ):
        assert "the same hash" in refused(codec, codec.encode(value))


def test_many_keys_of_different_hashes_are_read() -> None:
    keys = [2**70 + n for n in range(3_000)]
    for codec in (KRYO, SHARING, JAVA):
        assert codec.decode(codec.encode(set(keys))) == set(keys)
        assert codec.decode(codec.encode(dict.fromkeys(keys))) == dict.fromkeys(keys)


@pytest.mark.parametrize("codec", [KRYO, SHARING, JAVA], ids=["Kryo", "sharing", "Serialization"])
def test_a_hash_that_raises_is_a_decode_error(codec: Codec) -> None:
    for value in (
        java.Elements("java.util.HashSet", [Hashless()]),
        java.Entries("java.util.HashMap", [(Hashless(), 1)]),
    ):
        assert "ZeroDivisionError" in refused(codec, codec.encode(value))


def test_objects_without_fields_are_counted_over_the_whole_value() -> None:
    def empties(count: int, first: bytes) -> bytes:
        return b"\x01\0" + varint_flag(True, count + 1) + b"\x01\x01" + first + b"\0"

    name = ascii_name("com.acme.hostile.Empty")
    # This is first, as a class is looked at when it is first read, which takes memory too.
    assert KRYO.decode(KRYO.encode([Empty()] * 300)) == [Empty()] * 300
    lists = empties(4000, name) + empties(4000, b"") * 299
    data = named(0, "java.util.ArrayList") + varint_flag(False, 301) + lists + bytes(4000)
    told: list[str] = []
    assert peak_of(lambda: told.append(refused(KRYO, data))) < 8_000_000
    assert "without bytes" in told[0]


@pytest.mark.parametrize("codec", [KRYO, SHARING], ids=["Kryo", "sharing"])
def test_a_long_name_that_stands_once_is_there_once(codec: Codec) -> None:
    data = codec.encode([java.JavaClass("x" * 50_000)] + [java.JavaClass("x" * 50_000) for _ in range(5_000)])
    assert len(data) < 80_000
    found: list[Any] = []
    assert peak_of(lambda: found.extend(codec.decode(data))) < 4_000_000
    assert len(found) == 5_001
    assert found[5_000] == "x" * 50_000


def test_a_key_that_smile_names_again_is_there_once() -> None:
    codec = SmileJacksonCodec()
    name = b"x" * 5_000 + b"\xfc"
    before, _, after = codec.encode(Links({java.Uri("x" * 5_000): 1})).partition(name)
    data = before + name + b"\xc2" + b"\x42\xc2" * 2_000 + after[1:]  # name 2, the number 1
    found: list[Any] = []
    assert peak_of(lambda: found.append(codec.decode(data))) < 2_000_000
    assert found == [Links({java.Uri("x" * 5_000): 1})]


@pytest.mark.parametrize("name", ["[" * 5_000 + "I", "[" * 256 + "I"])
def test_an_array_has_at_most_255_dimensions(name: str) -> None:
    data = named(0, name) + b"\x01"
    assert peak_of(lambda: refused(KRYO, data)) < 1_000_000
    refused(JsonJacksonCodec(), f'["{name}",[]]'.encode())
    assert KRYO.decode(named(0, "[" * 255 + "I") + b"\x01") == []


def test_the_name_of_a_zone_is_no_path() -> None:
    modules = set(sys.modules)
    for zone in ("../../etc/passwd", "/etc/passwd", "A/" * 4_000 + "A", "A" * 100_000, "Europe/Berlin/x/y"):
        data = b'["java.time.ZonedDateTime","2024-01-01T00:00:00Z[' + zone.encode() + b']"]'
        assert peak_of(functools.partial(JsonJacksonCodec().decode, data)) < 2_000_000
    assert not [name for name in set(sys.modules) - modules if name.startswith("tzdata")]


@pytest.mark.parametrize("text", ["1" * 9_000 + "x", "1" * 100_000, "1." * 5_000, "0x" + "f" * 9_000, " " * 9_000])
def test_a_long_number_is_read_at_once(text: str) -> None:
    def read() -> None:
        with contextlib.suppress(DecodeError):
            DoubleCodec().decode(text.encode())

    assert seconds_of(read) < 0.5


# Values


class Raising(list[int]):
    def __iter__(self) -> Iterator[int]:
        raise ZeroDivisionError("no elements")


class Unreadable:
    def __getattribute__(self, name: str) -> Any:
        raise ZeroDivisionError(name)


class Restless(int):
    def __le__(self, other: object) -> bool:
        raise ZeroDivisionError

    __lt__ = __ge__ = __gt__ = __rshift__ = __lshift__ = __le__


class Zone(tzinfo):
    def dst(self, _when: datetime | None) -> None:
        return None

    def tzname(self, _when: datetime | None) -> None:
        return None

    def __init__(self, offset: Any) -> None:
        self._offset = offset

    def utcoffset(self, _when: datetime | None) -> timedelta | None:
        if isinstance(self._offset, Exception):
            raise self._offset
        return self._offset  # type: ignore[no-any-return]


def at(offset: Any) -> datetime:
    return datetime(2024, 1, 2, tzinfo=Zone(offset))


def released() -> memoryview:
    view = memoryview(b"abc")
    view.release()
    return view


def broken_view() -> Any:
    view = java.unmodifiable([1])
    view.like = 5  # type: ignore[attr-defined]
    return view


VALUES: dict[str, Any] = {
    "iter": Raising([1]),
    "attributes": Unreadable(),
    "released": released(),
    "no offset": at(None),
    "raising offset": at(ZeroDivisionError()),
    "odd offset": at(timedelta(seconds=1, microseconds=1)),
    "a class that is no set's": java.Elements("java.lang.String", ["a"]),
    "a class that is no map's": java.Entries("java.util.BitSet", [("a", 1)]),
    "pairs that are none": java.Entries("java.util.HashMap", [1]),  # type: ignore[list-item]
    "several flags": Flags.A | Flags.B,
    "bits that are none": java.BitSet(["a"]),  # type: ignore[list-item]
    "broken view": broken_view(),
    "unmade": java.LinkedHashSet.__new__(java.LinkedHashSet),
}
CODECS: list[Codec] = [
    *(KRYO, SHARING, JAVA, JsonJacksonCodec(), JsonJacksonCodec(java_time="text"), JsonJackson3Codec()),
    *(CborJacksonCodec(), SmileJacksonCodec(), MsgPackJacksonCodec(), IonJacksonCodec(), CborJackson3Codec()),
    *(TypedJsonJacksonCodec(object), ProtobufCodec(Holder), ProtobufCodec(list)),
    *(StringCodec(), LongCodec(), DoubleCodec(), ByteArrayCodec()),
]


@pytest.mark.parametrize("codec", CODECS, ids=repr)
@pytest.mark.parametrize("name", VALUES)
def test_a_value_is_bytes_or_an_encode_error(name: str, codec: Codec) -> None:
    found: list[EncodeError] = []
    for value in (VALUES[name], [0, VALUES[name]], Holder(VALUES[name])):
        try:
            codec.encode(value)
        except EncodeError as error:
            found.append(error)
    assert all(error.path.startswith("$") and len(str(error)) < 2_500 for error in found)


@pytest.mark.parametrize("codec", [KRYO, SHARING, JAVA, JsonJacksonCodec()], ids=repr)
def test_what_a_value_raises_is_told_with_its_place(codec: Codec) -> None:
    with pytest.raises(EncodeError, match="ZeroDivisionError: no elements") as caught:
        codec.encode([0, {"a": Holder(Raising([1]))}])
    assert caught.value.path.startswith("$[1]['a']['held']")


def test_subclasses_cannot_change_what_is_written() -> None:
    class Text(str):
        def encode(self, *_args: Any) -> bytes:
            raise ZeroDivisionError

    assert StringCodec().encode(Text("abc")) == b"abc"
    assert LongCodec().encode(Restless(7)) == b"7"


# Threads

_MODULE = """
import enum
import attrs
from redisson_dq import java
from redisson_dq.java import java_class

@java_class("hostile{0}.Base", serial_version_uid=1)
@attrs.define
class Base:
    next: "Node | None" = None

@java_class("hostile{0}.Node", serial_version_uid=2)
@attrs.define
class Node(Base):
    nodes: "list[Node]" = attrs.field(factory=list)
    leaf: "Leaf | None" = None

@java_class("hostile{0}.Leaf", serial_version_uid=3, final=True)
@attrs.define
class Leaf:
    shade: "Shade | None" = None

@java_class("hostile{0}.Shade")
class Shade(enum.Enum):
    LIGHT = 1
    DARK = 2
"""


def test_the_first_use_of_a_class_in_many_threads_at_once() -> None:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for index in range(as_many(10, 30)):
            space: dict[str, Any] = {"__name__": f"hostile{index}"}
            module = type(sys)(f"hostile{index}")
            sys.modules[module.__name__] = module
            exec(_MODULE.format(index), module.__dict__)
            space = module.__dict__
            try:
                for codec in (Kryo5Codec(), Kryo5Codec(references=True), SerializationCodec(), JsonJacksonCodec()):
                    assert _concurrent_results(codec, space) == 1
            finally:
                del sys.modules[module.__name__]
    finally:
        sys.setswitchinterval(interval)


def _concurrent_results(codec: Codec, space: dict[str, Any]) -> int:
    """How many different results eight threads have. What a thread raises is one."""
    results: set[Any] = set()
    barrier = threading.Barrier(8)

    def work() -> None:
        leaves = [space["Leaf"](shade) for shade in space["Shade"]]
        value = [space["Node"](nodes=[space["Node"](leaf=leaf) for leaf in leaves]), {"a": leaves[0]}]
        barrier.wait()
        try:
            data = codec.encode(value)
            results.add((data, codec.decode(data) == value))
        except Exception as error:
            results.add(repr(error))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return len(results)


# Arguments


@pytest.mark.parametrize(
    "make",
    [
        lambda: StringCodec(None),  # type: ignore[arg-type]
        lambda: StringCodec("\0"),
        lambda: StringCodec("x" * 100_000),
        lambda: Kryo5Codec(None),  # type: ignore[arg-type]
        lambda: Kryo5Codec(5),  # type: ignore[arg-type]
        lambda: JsonJacksonCodec(java_time=[]),  # type: ignore[arg-type]
        lambda: TypedJsonJacksonCodec([]),
        lambda: ProtobufCodec({}),
    ],
)
def test_a_wrong_argument_is_told(make: Callable[[], Codec]) -> None:
    with pytest.raises(ArgumentError) as caught:
        make()
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("name", ["java.lang.String", "java.util.Collections$UnmodifiableMap", "", None])
def test_a_view_is_one_of_its_kind(name: Any) -> None:
    with pytest.raises(ArgumentError, match="the name of a wrapper's class"):
        java.ListView(name, ["a"])


@pytest.mark.parametrize(
    "value",
    [
        java.Elements("java.lang.String", ["a"]),
        java.Elements("java.util.ArrayList", ["a"]),
        java.Entries("java.util.HashSet", [("a", 1)]),
    ],
)
def test_elements_and_entries_are_of_a_class_of_theirs(value: Any) -> None:
    with pytest.raises(EncodeError, match="which is not a class of"):
        KRYO.encode(value)


def test_a_large_int_is_no_decimal() -> None:
    def write() -> None:
        with pytest.raises(EncodeError):
            ProtobufCodec(Decimal).encode(1 << 3_000_000)  # type: ignore[arg-type]

    assert seconds_of(write) < 0.5


def test_any_buffer_is_text() -> None:
    assert StringCodec("utf-16").decode(memoryview(b"\xfe\xff\0a")) == "a"  # type: ignore[arg-type]
