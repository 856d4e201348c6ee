"""Kryo5Codec and the Java serialization streams inside its bytes: what they share, and bytes made to do harm."""

from __future__ import annotations

import hashlib
import pickle
import re
import struct
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from ipaddress import IPv4Address, IPv6Address
from typing import Any, cast

import pytest

from redisson_dq import java
from redisson_dq.codecs import Kryo5Codec, SerializationCodec
from redisson_dq.codecs.kryo5.wire import ascii_name, varint, varint_flag
from redisson_dq.codecs.serialization.descriptors import array_descriptor, jdk_descriptor
from redisson_dq.codecs.serialization.handler import put
from redisson_dq.codecs.serialization.stream import ArrayInstance, Content, Instance
from redisson_dq.codecs.serialization.writer import StreamWriter
from redisson_dq.errors import ArgumentError, DecodeError, EncodeError
from tests.unit.codecs import acme
from tests.unit.codecs.golden_rows import same
from tests.unit.codecs.samples import EPOCH, HELPERS, MILLIS, SAMPLES
from tests.unit.codecs.vectors import Vector, vectors
from tests.versions import NEWEST

codec = Kryo5Codec()
with_references = Kryo5Codec(references=True)
BOOM, BARE = SAMPLES["exception/runtime"], SAMPLES["exception/no-trace"]
FULL, SILENT = SAMPLES["exception/cause-and-suppressed"], SAMPLES["exception/no-message"]
EMPTY_SORTED = SAMPLES["immutable/empty-sorted-set"]
HEADER = bytes.fromhex("aced0005")


def unmodifiable_collection() -> java.ListView[int]:
    return java.ListView(f"{HELPERS}UnmodifiableCollection", [1])


#: Several objects in one value: those of one class share a stream, and so do all exceptions.
TOGETHER: dict[str, Any] = {
    "lists": [java.unmodifiable([1]), java.unmodifiable([1, 2]), java.unmodifiable(["a"])],
    "two streams by turns": [
        java.unmodifiable([1]),
        java.unmodifiable(java.LinkedList([1])),
        java.unmodifiable([2]),
        java.unmodifiable(java.LinkedList([3])),
    ],
    "a class and its subclass": [
        EMPTY_SORTED,
        java.SetView(f"{HELPERS}UnmodifiableNavigableSet", java.TreeSet("a")),
        EMPTY_SORTED,
    ],
    "a class and its superclass": [java.unmodifiable([1]), unmodifiable_collection(), java.unmodifiable([2])],
    "maps of enums": [
        java.EnumMap(acme.Color, {acme.Color.RED: 1}),
        "x",
        java.EnumMap(acme.Color, {acme.Color.RED: acme.Customer("Ann", None)}),
        java.EnumMap(acme.Planet, {acme.Planet.EARTH: "e"}),
    ],
    "exceptions": [BOOM, SILENT, FULL, BOOM, SILENT],
    "exceptions of one class": [BOOM, BOOM, BARE],
    "exceptions and nulls": [None, BOOM, None, BOOM],
    "in a field": acme.Loose(BOOM, java.Long(5), None, None, None, None, None, None),
    "in arrays": java.ObjectArray([java.Array("java.lang.RuntimeException", [BOOM, SILENT, None]), BOOM]),
    "addresses": [
        IPv4Address("1.2.3.4"),
        IPv6Address("fe80::1%5"),
        java.InetAddress(IPv4Address("255.0.0.1"), "host"),
        java.InetSocketAddress(IPv4Address("1.2.3.4"), 80),
        java.InetSocketAddress("example.com", 65535),
        java.Array("java.net.Inet4Address", [IPv4Address("1.2.3.4"), None]),
        java.Array("java.net.InetAddress", [IPv4Address("1.2.3.4"), IPv6Address("::1")]),
    ],
    "in each other": [
        java.unmodifiable([java.unmodifiable([java.synchronized({"a": [1]})])]),
        java.unmodifiable([acme.Point(1, 2), acme.Point(1, 2)]),
    ],
}
#: What Redisson 3.50.0 and 4 both write for these, without and with references.
JAVA: dict[str, tuple[str, str]] = {
    "lists": (
        "58b8a0b5472461c6851caf24587e4628def36863097ac82839f4775ad3a24df7",
        "a9bc84261653dae5155604b8770bbb224446533b82add44baccd041f40ebed20",
    ),
    "two streams by turns": (
        "7ef8bcd9e8f02688478bc2ca0ab1c578587e27b2378872a155c32a75614d2744",
        "079fdcab3c170a916aae104ce76c74c87e203728cc1a0b65de7860f0d99cee4d",
    ),
    "a class and its subclass": (
        "bee69fe86a4f6b144172db9627dcf922fee9103f6badda777d94e8c3ed129a9a",
        "8bc383796c00381a99a71f2abe247a99ca3bc172962527fd6a16a9821b8a9070",
    ),
    "a class and its superclass": (
        "696906f0ae63198e16f7b8cf0e4696ca42de2d58829c86d56f2b0817cbe8b922",
        "f1e3bfb5d6dcce108c7e7becdcbac60612d6d7f244e06c257a38f6bc6edaaf44",
    ),
    "maps of enums": (
        "068775649f0e9808fec33c3b515db296dff24d4a03c2ce32193104023c23b0ad",
        "b565b86582d104e11740ba4ec9d1c6944dfccce18095c30e5d81a2086a51343d",
    ),
    "exceptions": (
        "656216d0e6ef6948af742aaadee5673b3239f7b27240f22c7ab5adb37200a0e7",
        "68a3145727ab5f5191ce0da3292a4519f7227097ee3ffa4a1efa6f801e364bd2",
    ),
    "exceptions of one class": (
        "f4ba0d0e32542e656bcdc22c590c2b4f739d1821bcabec16adfebf290f71e354",
        "1f78fa7418c767da3467036c23abc77c2709e11f650911e478cb77038a5f1132",
    ),
    "exceptions and nulls": (
        "d93c1c62b370a19e3cc47c1f98cba0529bf7b8751049de3cbd77849700c80aa4",
        "e3fcd7cd91c656e6d1473e75718e6ed3bf441fbeab7a5cee7575637d353c6b61",
    ),
    "in a field": (
        "a725cb1bee4e1a9688f72f0ff9c0cd042f45cd3ccd6cea0ad8315fa201f54f64",
        "be546024be6ab7229e1ecc7d74f56fcbc2a808938d3fc9d7a6c5a28ab80ac519",
    ),
    "in arrays": (
        "d65cd482892dc31fcf92735142567fbf146c311a0496c1bfb6afccf469515575",
        "c8d629158a13a6d94ec94b3ff6f26fb47074bbfef8275fe2eb21d160ef49a609",
    ),
    "addresses": (
        "319525f2b1e5d12b32feb4e7700f7788d7b16312ff64646de9a81e013f8b08b2",
        "44bfa3a5421eb186c784416b111c10b8a86937466a2a6803d156a776e16faedb",
    ),
    "in each other": (
        "10e06da91b609627dd5572105df83abbd597f23b691840f617dfc0137b60370c",
        "3fbe69fc5809d6e8bb2d7f8f57dffd55a01fe3201ad19a9fdb056e0ed472d98f",
    ),
}


@pytest.mark.parametrize("name", TOGETHER)
def test_what_shares_a_stream_is_written_to_the_bytes_of_java(name: str) -> None:
    value = TOGETHER[name]
    for kryo, digest in zip((codec, with_references), JAVA[name], strict=True):
        data = kryo.encode(value)
        assert hashlib.sha256(data).hexdigest() == digest
        assert same(kryo.decode(data), value)


REFERENCES = [
    row
    for row in vectors("Kryo5Codec", {"name": "Kryo5Codec", "references": True})
    if row.data is not None and HEADER in row.data and row.same_back and row.name in SAMPLES
]


@pytest.mark.parametrize("row", REFERENCES, ids=str)
def test_with_references_a_stream_is_the_same(row: Vector) -> None:
    assert row.data is not None
    value = with_references.decode(row.data)
    assert same(value, SAMPLES[row.name])
    assert row.name == "exception/own-in-list" or with_references.encode(value) == row.data


def test_there_are_vectors_with_references() -> None:
    assert {row.name for row in REFERENCES} >= {"exception/runtime", "exception/own", "exception/cause-and-suppressed"}


@pytest.mark.parametrize("kryo", [codec, with_references], ids=["plain", "references"])
def test_an_object_that_stands_twice_is_one_object(kryo: Kryo5Codec) -> None:
    view = java.unmodifiable([[1]])
    first, second, error, again = kryo.decode(kryo.encode([view, view, BOOM, BOOM]))
    assert first is second
    assert error is again


def test_what_one_stream_shares_another_has_again() -> None:
    # A BigDecimal holds the BigInteger 0, of which Java has one object.
    shared = [Decimal("0.00"), java.BigInteger(0), 5, 5]
    value = [java.unmodifiable(shared), java.synchronized({"a": shared}), java.synchronized(shared)]
    data = with_references.encode(value)
    assert with_references.encode(with_references.decode(data)) == data
    assert codec.encode(codec.decode(codec.encode(value))) == codec.encode(value)


@pytest.mark.parametrize("name", ["java.util.EnumMap", "java.util.Collections$UnmodifiableList", "java.util.UUID"])
def test_what_redisson_cannot_register_is_no_allowed_class(name: str) -> None:
    with pytest.raises(ArgumentError, match=f"cannot have {re.escape(name)} among its allowed classes"):
        Kryo5Codec(allowed_classes=["java.util.ArrayList", name])


def test_with_allowed_classes_there_are_no_exceptions() -> None:
    with pytest.raises(EncodeError, match="writes no exceptions"):
        Kryo5Codec(allowed_classes=["java.lang.RuntimeException"]).encode(BOOM)
    with pytest.raises(DecodeError, match="none of the allowed classes"):
        Kryo5Codec(allowed_classes=["java.util.ArrayList"]).decode(codec.encode(BOOM))


# Exceptions of one's own


def test_an_exception_of_classes_of_its_own_is_written_as_it_is_described() -> None:
    failed = SAMPLES["exception/own"].described
    late = java.ThrowableClass("com.acme.TooLate", 7, (("days", "int"), ("order", "com.acme.Address")), failed)
    fields = {"attempts": 1, "orderId": None, "days": 3, "order": acme.Address("Main St 1", "Springfield", 12345)}
    error = java.Throwable("com.acme.TooLate", fields=fields, described=late)
    for each in (codec, with_references, SerializationCodec()):
        assert same(each.decode(each.encode(error)), error)
    assert same(pickle.loads(pickle.dumps(error.described)), late)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (java.Throwable("com.acme.TooLate"), "needs described=ThrowableClass"),
        (java.Throwable("com.acme.TooLate", described=SAMPLES["exception/own"].described), "needs described="),
        (
            java.Throwable("com.acme.TooLate", described=java.ThrowableClass("com.acme.TooLate", 1, (), "no.Such")),
            "needs described=",
        ),
        (
            java.Throwable(
                "com.acme.TooLate", described=java.ThrowableClass("com.acme.TooLate", 1, (), "java.lang.Long")
            ),
            "needs described=",
        ),
        (java.Throwable("java.util.ArrayList"), "needs described="),
        (java.Throwable("java.lang.Error", fields={"depth": 1}), "no field depth"),
    ],
)
def test_an_exception_that_java_has_no_class_for_is_refused(error: java.Throwable, text: str) -> None:
    with pytest.raises(EncodeError, match=text) as caught:
        codec.encode([error])
    assert caught.value.path == "$[0]"


@pytest.mark.parametrize(
    "make",
    [
        lambda: java.Throwable(cast(Any, None)),
        lambda: java.ThrowableClass("com.acme.TooLate", 2**63),
        lambda: java.ThrowableClass("com.acme.TooLate", 1, (("days", ""),)),
        lambda: java.ThrowableClass("com.acme.TooLate", 1, (), cast(Any, None)),
    ],
)
def test_an_exception_that_java_does_not_have_is_refused(make: Callable[[], Any]) -> None:
    with pytest.raises(ArgumentError):
        make()


# Bytes made by hand


def kryo_list(*parts: tuple[str, bytes]) -> bytes:
    """An ArrayList of objects, each with the name of its class."""
    known = {"java.util.ArrayList": 0}
    out = [b"\x01\0" + ascii_name("java.util.ArrayList"), varint_flag(False, len(parts) + 1)]
    for name, data in parts:
        out.append(b"\x01" + varint(known.get(name, len(known))))
        if name not in known:
            known[name] = len(known)
            out.append(ascii_name(name))
        out.append(data)
    return b"".join(out)


def instance(name: str, values: dict[str, Content], annotation: list[Content] | None = None) -> Instance:
    desc = jdk_descriptor(name)
    assert desc is not None
    node = Instance(desc)
    put(node, values, annotation or [])
    return node


def array_list(*items: Content) -> Instance:
    return instance("java.util.ArrayList", {"size": len(items)}, [struct.pack(">i", len(items)), *items])


def stream(*contents: Content) -> list[bytes]:
    """The objects of one stream, each by itself."""
    writer = StreamWriter()
    found = []
    for content in contents:
        writer.write(content)
        found.append(b"".join(writer.out))
        writer.out.clear()
    return found


def wrappers(prefix: str, count: int) -> list[tuple[str, bytes]]:
    """``count`` wrappers around the same list of 1,000 elements, which is read once and copied for each."""
    inner = array_list(*[None] * 1000)
    name = f"{HELPERS}{prefix}List"
    fields = ("c", "list")
    parts = stream(*(instance(name, dict.fromkeys(fields, inner)) for _ in range(count)))
    return [(f"{HELPERS}{prefix}RandomAccessList", part) for part in parts]


def test_the_work_of_all_streams_is_counted_together() -> None:
    for prefix in ("Unmodifiable", "Synchronized"):
        assert len(codec.decode(kryo_list(*wrappers(prefix, 120)))) == 120
    with pytest.raises(DecodeError, match="referred to too often"):
        codec.decode(kryo_list(*wrappers("Unmodifiable", 120), *wrappers("Synchronized", 120)))


def lists(depth: int, value: Any) -> Any:
    for _ in range(depth):
        value = [value]
    return value


def nested_list(depth: int) -> Content:
    node: Content = instance("java.lang.Integer", {"value": 1})
    for _ in range(depth):
        node = array_list(node)
    return node


def test_the_depth_of_a_stream_counts_from_where_it_stands() -> None:
    inner = java.unmodifiable(lists(80, 1))
    value = lists(100, inner)
    assert same(codec.decode(codec.encode(value)), value)
    with pytest.raises(EncodeError, match="deeper than 200"):
        codec.encode(lists(150, inner))
    (data,) = stream(instance(f"{HELPERS}UnmodifiableList", dict.fromkeys(("c", "list"), nested_list(80))))
    part = f"{HELPERS}UnmodifiableRandomAccessList", data
    outermost, rest = kryo_list(part).split(b"\x02", 1)
    assert same(codec.decode(outermost + b"\x02" + b"\x01\0\x02" * 99 + rest), value)
    with pytest.raises(DecodeError, match="deeper than 200"):
        codec.decode(outermost + b"\x02" + b"\x01\0\x02" * 149 + rest)


ONE = codec.encode(java.unmodifiable([1]))
START = ONE.index(HEADER)


@pytest.mark.parametrize(
    ("data", "text", "offset"),
    [
        (kryo_list(("com.acme.Absent", b"\x02")), "Java class com.acme.Absent is not declared", 22),
        (ONE.replace(HEADER, b"\xac\xed\0\x04"), "RandomAccessList as Redisson before 3.38 writes it", START),
        (codec.encode(BOOM).replace(HEADER, b"\xac\xed\0\x04"), "java.lang.RuntimeException cannot be read", 0),
        # Java's streams know their own class.
        (kryo_list((BOOM.java_name, stream(array_list())[0])), "holds no java.lang.RuntimeException", 50),
        (kryo_list((f"{HELPERS}CheckedList", stream(None)[0])), "holds no java.util.Collections$CheckedList", 57),
        # A class that is not declared, and a stream after it.
        (kryo_list(("com.acme.Absent", b"\x02" + HEADER)), "Java class com.acme.Absent is not declared", 39),
        (
            kryo_list(("java.lang.Error", stream(None)[0]), ("com.acme.Absent", b"\x02")),
            "a stream of Java that holds no java.lang.Error",
            39,
        ),
        # Each class of wrappers begins a stream of its own.
        (
            kryo_list(wrappers("Unmodifiable", 1)[0], (f"{HELPERS}SynchronizedList", stream(None, None)[1])),
            "SynchronizedList as Redisson before 3.38 writes it",
            None,
        ),
    ],
)
def test_bytes_that_hold_no_such_stream(data: bytes, text: str, offset: int | None) -> None:
    with pytest.raises(DecodeError) as caught:
        codec.decode(data)
    assert text in str(caught.value)
    assert offset is None or caught.value.offset == offset


def test_a_fault_in_a_stream_is_found_where_it_is_in_all_bytes() -> None:
    data = codec.encode([1, java.unmodifiable(["abc"])])
    place = data.rindex(b"t\0\x03abc")
    with pytest.raises(DecodeError, match="no content begins with 0x00") as caught:
        codec.decode(data[:place] + b"\0" + data[place + 1 :])
    assert caught.value.offset == place


# Addresses

#: What Java's own serialization writes, on JDK 17 and JDK 25.
ADDRESSES: list[tuple[Any, str]] = [
    (
        IPv4Address("1.2.3.4"),
        "aced0005737200146a6176612e6e65742e496e6574416464726573732d9b57af9fe3ebdb0300034900076164647265737349"
        "000666616d696c794c0008686f73744e616d657400124c6a6176612f6c616e672f537472696e673b78700102030400000002"
        "7078",
    ),
    (
        java.InetAddress(IPv4Address("200.0.0.1"), "host"),
        "aced0005737200146a6176612e6e65742e496e6574416464726573732d9b57af9fe3ebdb0300034900076164647265737349"
        "000666616d696c794c0008686f73744e616d657400124c6a6176612f6c616e672f537472696e673b7870c800000100000002"
        "740004686f737478",
    ),
    (
        IPv6Address("::1"),
        "aced0005737200156a6176612e6e65742e496e657436416464726573735f7c2081522c802103000549000873636f70655f69"
        "645a000c73636f70655f69645f7365745a001073636f70655f69666e616d655f7365744c000669666e616d657400124c6a61"
        "76612f6c616e672f537472696e673b5b00096970616464726573737400025b42787200146a6176612e6e65742e496e657441"
        "6464726573732d9b57af9fe3ebdb0300034900076164647265737349000666616d696c794c0008686f73744e616d6571007e"
        "000178700000000000000002707800000000000070757200025b42acf317f8060854e0020000787000000010000000000000"
        "0000000000000000000178",
    ),
    (
        java.InetAddress(IPv6Address("fe80:304:506:708:90a:b0c:d0e:f10%5"), "h6"),
        "aced0005737200156a6176612e6e65742e496e657436416464726573735f7c2081522c802103000549000873636f70655f69"
        "645a000c73636f70655f69645f7365745a001073636f70655f69666e616d655f7365744c000669666e616d657400124c6a61"
        "76612f6c616e672f537472696e673b5b00096970616464726573737400025b42787200146a6176612e6e65742e496e657441"
        "6464726573732d9b57af9fe3ebdb0300034900076164647265737349000666616d696c794c0008686f73744e616d6571007e"
        "00017870000000000000000274000268367800000005010070757200025b42acf317f8060854e0020000787000000010fe80"
        "030405060708090a0b0c0d0e0f1078",
    ),
    (
        java.InetSocketAddress(IPv4Address("1.2.3.4"), 80),
        "aced00057372001a6a6176612e6e65742e496e6574536f636b657441646472657373467194616ff9aa45030003490004706f"
        "72744c0004616464727400164c6a6176612f6e65742f496e6574416464726573733b4c0008686f73746e616d657400124c6a"
        "6176612f6c616e672f537472696e673b787200166a6176612e6e65742e536f636b6574416464726573734861f662f4979d6a"
        "020000787000000050737200146a6176612e6e65742e496e6574416464726573732d9b57af9fe3ebdb030003490007616464"
        "7265737349000666616d696c794c0008686f73744e616d6571007e00027870010203040000000270787078",
    ),
    (
        java.InetSocketAddress("example.com", 443),
        "aced00057372001a6a6176612e6e65742e496e6574536f636b657441646472657373467194616ff9aa45030003490004706f"
        "72744c0004616464727400164c6a6176612f6e65742f496e6574416464726573733b4c0008686f73746e616d657400124c6a"
        "6176612f6c616e672f537472696e673b787200166a6176612e6e65742e536f636b6574416464726573734861f662f4979d6a"
        "0200007870000001bb7074000b6578616d706c652e636f6d78",
    ),
]


@pytest.mark.parametrize(("address", "written"), ADDRESSES, ids=repr)
def test_an_address_is_written_to_the_bytes_of_java(address: Any, written: str) -> None:
    data = bytes.fromhex(written)
    assert same(SerializationCodec().decode(data), address)
    assert SerializationCodec().encode(address) == data
    assert codec.encode(address).endswith(data)
    assert same(codec.decode(codec.encode(address)), address)


def inet6(size: int, **values: Content) -> Instance:
    raw = ArrayInstance(array_descriptor("[B"), bytes(size))
    return instance("java.net.Inet6Address", {"ipaddress": raw, "hostName": None, **values})


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (inet6(15), "an Inet6Address of 15 bytes"),
        (inet6(16, scope_ifname_set=True), "name of a network interface"),
        (instance("java.net.InetSocketAddress", {"port": 80}), "an address or a name"),
        (instance("java.net.InetSocketAddress", {"port": 70_000, "hostname": "a"}), "0 to 65535"),
        (instance("java.net.InetSocketAddress", {"addr": array_list()}), "an address or a name"),
    ],
)
def test_bytes_that_hold_no_address(content: Content, text: str) -> None:
    with pytest.raises(DecodeError, match=text):
        SerializationCodec().decode(stream(content)[0])


def test_an_address_that_java_does_not_have_is_refused() -> None:
    for make in (
        lambda: java.InetAddress(cast(Any, "1.2.3.4"), "host"),
        lambda: java.InetSocketAddress(cast(Any, None), 80),
        lambda: java.InetSocketAddress("host", -1),
    ):
        with pytest.raises(ArgumentError):
            make()
    with pytest.raises(EncodeError, match="a scope that is not a number"):
        codec.encode(IPv6Address("fe80::1%eth0"))


# Calendars


def test_a_calendar_of_any_kind_comes_back() -> None:
    for calendar in (
        java.GregorianCalendar(MILLIS, "Europe/Berlin", False, 2, 4, 5),
        java.GregorianCalendar(java.FarTime("java.util.Date", (2**62,))),
        java.GregorianCalendar(EPOCH, "GMT+05:30", gregorian_change=-(2**63)),
    ):
        assert same(codec.decode(codec.encode([calendar, None])), [calendar, None])


@pytest.mark.parametrize(
    "make",
    [
        lambda: java.GregorianCalendar(datetime(2024, 2, 29)),
        lambda: java.GregorianCalendar(java.FarTime("java.time.Instant", (1, 2))),
        lambda: java.GregorianCalendar(EPOCH, cast(Any, 1)),
        lambda: java.GregorianCalendar(EPOCH, first_day_of_week=0),
        lambda: java.GregorianCalendar(EPOCH, minimal_days=8),
        lambda: java.GregorianCalendar(EPOCH, gregorian_change=2**63),
    ],
)
def test_a_calendar_that_java_does_not_have_is_refused(make: Callable[[], Any]) -> None:
    with pytest.raises(ArgumentError):
        make()


@pytest.mark.parametrize("name", ["calendar/utc", "calendar/berlin"])
def test_a_calendar_without_a_time_zone_of_the_jdk_is_refused(name: str) -> None:
    (data,) = {row.data for row in vectors("SerializationCodec") if row.name == name and row.redisson == NEWEST}
    assert data is not None
    with pytest.raises(DecodeError, match="a time zone of its own"):
        SerializationCodec().decode(data.replace(b"sun.util.calendar.ZoneInfo", b"sun.util.calendar.OtherOne"))


@pytest.mark.parametrize(
    ("value", "instead"),
    [
        (java.EnumMap(acme.Color, {acme.Color.RED: 1}), "send a HashMap"),
        (java.unmodifiable([1]), "send the collection without its wrapper"),
        (IPv4Address("10.0.0.1"), "send its text"),
    ],
)
def test_what_a_redisson_before_3_38_cannot_read_is_not_written_for_it(value: Any, instead: str) -> None:
    with pytest.raises(EncodeError, match=f"which Java's Kryo cannot read before Redisson 3.38: {instead}"):
        Kryo5Codec(redisson="3.37.0").encode([value])
    assert Kryo5Codec(redisson="3.38.0").decode(Kryo5Codec(redisson="3.38.0").encode([value])) == [value]
    Kryo5Codec(redisson="3.20.0").encode(java.Throwable("java.lang.Error", "as every Redisson"))


@pytest.mark.parametrize("name", ["enummap/some", "unmodifiable/list", "checked/map"])
def test_what_a_redisson_before_3_38_lost_is_said_so(name: str) -> None:
    [row] = [row for row in vectors("Kryo5Codec") if (row.redisson, row.name) == ("3.20.0", name)]
    assert row.data is not None
    assert not row.same_back
    with pytest.raises(DecodeError, match="that Redisson itself cannot read it back, so the value is lost") as caught:
        Kryo5Codec(redisson="3.20.0").decode(row.data)
    assert "out of date" not in str(caught.value)
