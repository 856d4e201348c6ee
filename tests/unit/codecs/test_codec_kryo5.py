"""Kryo5Codec where the golden files do not reach: more classes, limits, hostile bytes, errors."""

from __future__ import annotations

import enum
import struct
import tracemalloc
from collections import OrderedDict, defaultdict
from decimal import Decimal
from typing import Any

import attrs
import pytest

from redisson_dq import java
from redisson_dq.codecs import Kryo5Codec
from redisson_dq.codecs.kryo5.wire import varint, varint_flag
from redisson_dq.errors import DecodeError, EncodeError
from redisson_dq.java import BigInteger, Byte, Character, Entries, Float, Long, Short, java_class
from tests.unit.codecs.golden_rows import caught_from, nested, same, with_little_stack

codec = Kryo5Codec()
ARRAY_LIST = "01006a6176612e7574696c2e41727261794c6973f4"
LINKED_HASH_MAP = "01006a6176612e7574696c2e4c696e6b6564486173684d61f0"


def named(name: str) -> str:
    """The first class of a value that is named."""
    raw = name.encode()
    return (b"\x01\x00" + raw[:-1] + bytes([raw[-1] | 0x80])).hex()


# Written by Redisson 3.20.0, 3.50.0 and 4 on JDK 17, all three the same.
COLLECTIONS = {
    "Arrays.asList": (named("java.util.Arrays$ArrayList") + "83030082618262", ["a", "b"]),
    "Arrays.asList, mixed": (named("java.util.Arrays$ArrayList") + "030382610202", ["a", 1]),
    "Collections.emptyList": (named("java.util.Collections$EmptyList"), []),
    "Collections.emptySet": (named("java.util.Collections$EmptySet"), set()),
    "Collections.emptyMap": (named("java.util.Collections$EmptyMap"), {}),
    "Collections.singletonList": (named("java.util.Collections$SingletonList") + "038261", ["a"]),
    "Collections.singletonList(null)": (named("java.util.Collections$SingletonList") + "00", [None]),
    "Collections.singleton": (named("java.util.Collections$SingletonSet") + "038261", {"a"}),
    "Collections.singletonMap": (named("java.util.Collections$SingletonMap") + "0382610202", {"a": 1}),
    "List.of()": (named("java.util.ImmutableCollections$ListN") + "01", []),
    "List.of, one": (named("java.util.ImmutableCollections$List12") + "82038261", ["a"]),
    "List.of, three": (named("java.util.ImmutableCollections$ListN") + "8403826182628263", ["a", "b", "c"]),
    "List.of, mixed": (named("java.util.ImmutableCollections$ListN") + "040382610202038263", ["a", 1, "c"]),
    "List.of, subList": (named("java.util.ImmutableCollections$SubList") + "83020406", [2, 3]),
    "Set.of": (named("java.util.ImmutableCollections$Set12") + "82038261", {"a"}),
    "Set.of, three": (named("java.util.ImmutableCollections$SetN") + "8403826182628263", {"a", "b", "c"}),
    "Map.of": (named("java.util.ImmutableCollections$Map1") + "020382610202", {"a": 1}),
    "Map.of, two": (named("java.util.ImmutableCollections$MapN") + "0303826102020382620204", {"a": 1, "b": 2}),
    "Vector": (named("java.util.Vector") + "030382610202", ["a", 1]),
    "CopyOnWriteArrayList": (named("java.util.concurrent.CopyOnWriteArrayList") + "030382610202", ["a", 1]),
    "CopyOnWriteArraySet": (named("java.util.concurrent.CopyOnWriteArraySet") + "8203008261", {"a"}),
    "Hashtable": (named("java.util.Hashtable") + "020382610202", {"a": 1}),
    "ConcurrentHashMap": (named("java.util.concurrent.ConcurrentHashMap") + "020382610202", {"a": 1}),
    "ConcurrentSkipListMap": (
        named("java.util.concurrent.ConcurrentSkipListMap") + "02000382610202",
        {"a": 1},
    ),
    "TreeSet": (named("java.util.TreeSet") + "8300030082618262", {"a", "b"}),
    "empty TreeSet": (named("java.util.TreeSet") + "0100", set()),
    "emptyList in a list": (
        ARRAY_LIST + "8301016a6176612e7574696c2e436f6c6c656374696f6e7324456d7074794c6973f400",
        [[], []],
    ),
    "emptyList and null": (
        ARRAY_LIST + "8301016a6176612e7574696c2e436f6c6c656374696f6e7324456d7074794c6973f4010100",
        [[], None],
    ),
    "singletonList and null": (
        ARRAY_LIST + "8301016a6176612e7574696c2e436f6c6c656374696f6e732453696e676c65746f6e4c6973f40101020200",
        [[1], None],
    ),
    "List.of in a list": (
        ARRAY_LIST
        + "8401016a6176612e7574696c2e496d6d757461626c65436f6c6c656374696f6e73244c69737431b2"
        + "00820202030382610204830382718272",
        [[1], ["a", 2], ["q", "r"]],
    ),
}

# The same three again, for lists and maps as this library writes them.
WRITTEN: list[tuple[str, Any]] = [
    (ARRAY_LIST + "84030182618062e3", ["a", None, "bc"]),
    (ARRAY_LIST + "8402010102000101", [1, None, -1]),
    (ARRAY_LIST + "8400", [None, None, None]),
    (ARRAY_LIST + "c90300", [None] * 200),
    (ARRAY_LIST + "84010001820300826100" + "01", [["a"], None, []]),
    (ARRAY_LIST + "830100018202000200", [[1], None]),
    (
        ARRAY_LIST
        + "040101"
        + "6a6176612e6d6174682e426967496e74656765f20205"
        + "0102"
        + "6a6176612e6d6174682e426967446563696d61ec020f02"
        + "01010206",
        [BigInteger(5), Decimal("1.5"), BigInteger(6)],
    ),
    (ARRAY_LIST + "8401016a6176612e6d6174682e426967496e74656765f2010205000206", [BigInteger(5), None, BigInteger(6)]),
    (ARRAY_LIST + "8301015bc201020100", [b"\x01", None]),
    (ARRAY_LIST + "83080001000200", [Short(1), Short(2)]),
    (ARRAY_LIST + "05080100060207630004cdcc8c3f", [Short(1), Byte(2), Character("c"), Float(1.1)]),
    (ARRAY_LIST + "82010000820100008201000001", [[[[]]]]),
    (ARRAY_LIST + "8401016a6176612e7574696c2e4c696e6b6564486173684d61f0010203826102020001", [{"a": 1}, None, {}]),
    (
        LINKED_HASH_MAP + "0703736bf503782db103826e090a0382700a000000000000f83f03826c0101"
        "6a6176612e7574696c2e41727261794c6973f4830200020403826d0100020382710003827a00",
        {"sku": "x-1", "n": Long(5), "p": 1.5, "l": [1, 2], "m": {"q": None}, "z": None},
    ),
    (LINKED_HASH_MAP + "0307610002020802000204", {Character("a"): 1, Short(2): 2}),
    ("0383eda0bdedb880", "\U0001f600"),
    ("0383edb080eda080", "\udc00\ud800"),
    ("0700d8", Character("\ud800")),
    ("0a000000000000f87f", float("nan")),
    ("040000c07f", Float(float("nan"))),
    ("01006a6176612e6d6174682e426967446563696d61ec0b029d42b64e76714244cb06", Decimal("12345678901234567890.123")),
    ("01006a6176612e6d6174682e426967446563696d61ec02018f03", Decimal("1E+200")),
    ("01006a6176612e6d6174682e426967446563696d61ec020004", Decimal("0.00")),
]


@pytest.mark.parametrize("name", COLLECTIONS)
def test_javas_collections_are_read(name: str) -> None:
    data, value = COLLECTIONS[name]
    raw = bytes.fromhex(data)
    decoded = codec.decode(raw)
    assert (list(decoded) if isinstance(value, list) else decoded) == value
    if "SubList" not in name.replace("subList", "SubList"):
        assert codec.encode(decoded) == raw


@pytest.mark.parametrize(("data", "value"), WRITTEN)
def test_bytes_are_javas(data: str, value: Any) -> None:
    assert codec.encode(value).hex() == data
    assert same(codec.decode(bytes.fromhex(data)), value)


def test_an_odd_nan_is_written_as_java_does() -> None:
    odd = struct.unpack("<d", bytes.fromhex("010000000000f8ff"))[0]
    assert codec.encode(odd).hex() == "0a000000000000f87f"
    assert codec.encode(Float(odd)).hex() == "040000c07f"


@pytest.mark.parametrize(
    ("value", "like"),
    [
        (bytearray(b"ab"), b"ab"),
        (memoryview(b"xabx")[1:3], b"ab"),
        (memoryview(b"a-b-")[::2], b"ab"),
        (OrderedDict(a=1), {"a": 1}),
        (defaultdict(list, a=[1]), {"a": [1]}),
        ([OrderedDict(a=1), {"b": 2}], [{"a": 1}, {"b": 2}]),
        (type("Text", (str,), {})("ab"), "ab"),
        (type("Count", (int,), {})(7), 7),
        (type("Count", (int,), {})(2**40), 2**40),
        (type("Id", (Long,), {})(7), Long(7)),
        (-Decimal("0.0"), Decimal("0.0")),
        ("\ud83d\ude00", "\U0001f600"),
        ((1, 2), [1, 2]),
        (frozenset({1}), {1}),
        ({(1, 2): 3}, Entries("java.util.LinkedHashMap", [([1, 2], 3)])),
    ],
)
def test_a_value_is_written_as_its_base_type(value: Any, like: Any) -> None:
    assert codec.encode(value) == codec.encode(like)


class Colour(enum.Enum):
    RED = "red"


class Size(enum.IntEnum):
    LARGE = 3


@pytest.mark.parametrize(
    ("value", "path", "text"),
    [
        (object(), "$", "object has no Java type"),
        (Colour.RED, "$", "Colour has no Java type here: declare its class"),
        ([1, Size.LARGE], "$[1]", "Size has no Java type"),
        (1j, "$", "complex"),
        (Decimal("NaN"), "$", "NaN"),
        (Decimal("-Infinity"), "$", "Infinity"),
        (Decimal("9" * 4001), "$", "4000 digits"),
        (Decimal("1E+2147483649"), "$", "scale"),
        ([1, [2, {"sku": object()}]], "$[1][1]['sku']", "object"),
        ([["a"], [b"", object()]], "$[1][1]", "object"),
        ({"a": {"b": [0, 1, object()]}}, "$['a']['b'][2]", "object"),
        ({"k" * 100: object()}, "$['" + "k" * 36 + "...]", "object"),
        ({(1, 1j): 3}, "$[(1, 1j)][1]", "complex"),
        ({10**5000: object()}, "$[<int>]", "object"),
    ],
)
def test_a_value_without_a_java_type_is_refused(value: Any, path: str, text: str) -> None:
    with pytest.raises(EncodeError, match="Kryo5Codec") as caught:
        codec.encode(value)
    assert caught.value.path == path
    assert caught.value.codec == "Kryo5Codec"
    assert text in str(caught.value)
    assert path in str(caught.value)
    assert caught.value.__cause__ is not None


@pytest.mark.parametrize("kind", ["list", "dict", "mixed"])
def test_nesting_is_bounded_both_ways(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    deepest = nested(200, kind=kind)
    assert codec.decode(codec.encode(deepest)) == deepest
    with pytest.raises(EncodeError, match="nested deeper than 200"):
        codec.encode(nested(201, kind=kind))
    monkeypatch.setattr("redisson_dq.codecs.kryo5.writer.MAX_DEPTH", 201)
    with pytest.raises(DecodeError, match="nested deeper than 200") as caught:
        codec.decode(codec.encode(nested(201, kind=kind)))
    assert 0 < caught.value.offset < len(caught.value.data)


def test_singleton_lists_are_collections_too() -> None:
    one = bytes.fromhex(named("java.util.Collections$SingletonList"))
    with pytest.raises(DecodeError, match="nested deeper than 200"):
        codec.decode(one + b"\x01\x00" * 10_000)


def test_a_list_inside_itself_is_refused() -> None:
    value: list[Any] = []
    value.append(value)
    with pytest.raises(EncodeError, match="does it contain itself") as caught:
        codec.encode(value)
    assert len(caught.value.path) <= 240
    entry: dict[str, Any] = {}
    entry["self"] = [entry]
    with pytest.raises(EncodeError, match="does it contain itself"):
        codec.encode(entry)


def test_an_exhausted_stack_is_an_error_of_the_codec() -> None:
    value = nested(190, kind="list")
    data = codec.encode(value)
    decoded = with_little_stack(100, lambda: caught_from(lambda: codec.decode(data)))
    encoded = with_little_stack(100, lambda: caught_from(lambda: codec.encode(value)))
    assert isinstance(decoded, DecodeError)
    assert isinstance(encoded, EncodeError)
    assert isinstance(decoded.__cause__, RecursionError)


HOSTILE = {
    "string": "03ffffffff7f",
    "string of a claimed 2 GB": "03c0ffffff0f6162",
    "class name": "0100ffffffff7f6162",
    "byte[]": "01005bc2ffffffff07",
    "BigInteger": named("java.math.BigInteger") + "ffffffff0f00",
    "BigDecimal": named("java.math.BigDecimal") + "ffffffff0f00",
    "list": ARRAY_LIST + "7fffffff7f",
    "list of one class": ARRAY_LIST + "ffffffff7f" + "0200",
    "list of one class with nulls": ARRAY_LIST + "ffffffff7f" + "0201",
    "list of nulls": ARRAY_LIST + "ffffffff7f" + "00",
    "list of empty lists": ARRAY_LIST + "ffffffff7f" + "0101" + named("java.util.Collections$EmptyList")[4:] + "00",
    "map": LINKED_HASH_MAP + "ffffffff0f",
    "set": named("java.util.HashSet") + "ffffffff7f" + "00",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_claimed_length_allocates_nothing(name: str) -> None:
    data = bytes.fromhex(HOSTILE[name])
    tracemalloc.start()
    try:
        with pytest.raises(DecodeError, match=r"announced|elements without bytes"):
            codec.decode(data)
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()


def test_elements_without_bytes_are_counted_over_the_whole_value() -> None:
    # 12,500 nulls in a few bytes, again and again.
    most = [[None] * 12_500] * 8
    assert len(codec.encode(most)) < 60
    assert codec.decode(codec.encode(most)) == most
    with pytest.raises(DecodeError, match="more than 100000 elements without bytes"):
        codec.decode(codec.encode(most).replace(varint_flag(True, 12_501), varint_flag(True, 12_502), 1))


@pytest.mark.parametrize(
    ("data", "text", "offset"),
    [
        ("", "end in the middle", 0),
        ("03", "end in the middle", 1),
        ("036162", "end in the middle", 3),
        ("0a0000", "end in the middle", 3),
        ("0761", "end in the middle", 2),
        ("0280", "end in the middle", 2),
        ("0000", "1 bytes too many", 1),
        ("02020a0b", "2 bytes too many", 2),
        ("0502", "a boolean of 0x02", 1),
        ("0b", "class id 9 is not registered", 0),
        ("ff01", "class id 253 is not registered", 0),
        ("0105e1", "class number 5 has no name", 0),
        ("010081", "Java class null cannot be read", 0),
        ("010080", "Java class null cannot be read", 0),
        (
            named("com.acme.Absent") + "01",
            'com.acme.Absent is not declared: write a Python class for it under @java_class("com',
            0,
        ),
        (named("java.util.HashMapX"), "Java class java.util.HashMapX cannot be read", 0),
        (ARRAY_LIST + "8201" + named("com.acme.Absent")[2:].replace("00", "01", 1), "at $[0]", 22),
        (named("java.util.Collections$UnmodifiableList") + "01", "UnmodifiableList", 40),
        (named("java.util.TreeMap") + "02038261", "a comparator of its own", 20),
        (named("java.math.BigInteger") + "01", "a BigInteger without bytes", 22),
        (named("java.math.BigDecimal") + "01", "a BigDecimal without bytes", 22),
        ("03c0808080808001", "a number of more than 5 bytes", 1),
        ("0382c0", "end in the middle", 3),
        ("0382f09f98", "begins no UTF-16 unit", 2),
        ("0382c080", "not UTF-8", 2),
        ("03828061", "not UTF-8", 2),
        ("0382ff", "end in the middle", 3),
        ("0382e28261", "not UTF-8", 2),
    ],
)
def test_bytes_that_are_no_value(data: str, text: str, offset: int) -> None:
    raw = bytes.fromhex(data)
    with pytest.raises(DecodeError, match="Kryo5Codec") as caught:
        codec.decode(raw)
    error = caught.value
    assert text in str(error)
    assert (error.codec, error.data, error.offset) == ("Kryo5Codec", raw, offset)
    assert error.__cause__ is not None


ODD = {
    "keys equal in Python": LINKED_HASH_MAP + "03020200020200",
    "1 and 1L": LINKED_HASH_MAP + "030202000902" + "00",
    "a list as key": LINKED_HASH_MAP + "02" + "0101" + ARRAY_LIST[4:] + "01" + "0202",
    "1 and 1L in a set": named("java.util.HashSet") + "0302020902",
    "a list in a set": named("java.util.HashSet") + "820101" + ARRAY_LIST[4:] + "0001",
    "a list in a singleton": named("java.util.Collections$SingletonSet") + "0101" + ARRAY_LIST[4:] + "01",
    "reverse order": named("java.util.TreeMap") + "0101" + "01" + named("java.util.Collections$ReverseComparator")[4:],
}


@pytest.mark.parametrize("name", ODD)
def test_what_python_cannot_hold_keeps_its_bytes(name: str) -> None:
    data = bytes.fromhex(ODD[name])
    assert codec.encode(codec.decode(data)) == data


def test_a_long_class_name_does_not_flood_the_message() -> None:
    with pytest.raises(DecodeError) as caught:
        codec.decode(b"\x01\x00" + b"a" * 100_000 + b"\xe1")
    assert len(str(caught.value)) < 600


def test_too_large_a_decimal_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    digits = 10**4000 - 1
    start = bytes.fromhex(named("java.math.BigDecimal"))
    largest = start + b"\xff\x0c" + digits.to_bytes(1662, "big") + b"\x00"
    assert codec.decode(largest) == digits
    assert codec.encode(Decimal(digits)) == largest
    for number, size in ((digits + 1, 1662), (1 << 200_000, 25_001)):
        raw = number.to_bytes(size, "big")
        length = bytes([(size + 1) & 0x7F | 0x80, (size + 1) >> 7 & 0x7F | 0x80, (size + 1) >> 14])
        with pytest.raises(DecodeError, match="4000 digits"):
            codec.decode(start + length + raw + b"\x00")
        # The larger of them before anything is computed from it.
        monkeypatch.setattr("redisson_dq.codecs.kryo5.scalars.Decimal", None)


def test_numbers_java_accepts_in_more_bytes_than_needed() -> None:
    assert codec.decode(bytes.fromhex("8300" + "6162" + "e3")[0:1] + b"\x00" + bytes.fromhex("61e2")) == "ab"
    assert codec.decode(bytes.fromhex("028a00")) == 5
    assert codec.decode(bytes.fromhex("8000")) is None


def test_a_subclass_names_itself_in_errors() -> None:
    class OurCodec(Kryo5Codec):
        pass

    with pytest.raises(DecodeError, match="OurCodec: ") as caught:
        OurCodec().decode(b"")
    assert caught.value.codec == "OurCodec"


def test_other_buffers_are_read_too() -> None:
    assert codec.decode(memoryview(b"\x03a\xe2")) == "ab"  # type: ignore[arg-type]
    assert codec.decode(bytearray(b"\x03a\xe2")) == "ab"  # type: ignore[arg-type]


def declared_anew() -> type:
    @java_class("com.acme.test.Anew")
    @attrs.define
    class Anew:
        number: int

    return Anew


def test_a_class_that_is_declared_again_is_read_as_the_new_one() -> None:
    codec = Kryo5Codec()
    for _ in range(2):
        kind = declared_anew()
        data = codec.encode(kind(5))
        for _ in range(2):  # the second time by the bytes of its name
            assert isinstance(codec.decode(data), kind)


def test_the_repr_tells_the_options() -> None:
    assert repr(Kryo5Codec()) == "Kryo5Codec()"
    codec = Kryo5Codec({"java.util.ArrayList"}, references=True)
    assert repr(codec) == "Kryo5Codec(allowed_classes=['java.util.ArrayList'], references=True)"


def test_a_bit_set_is_bounded() -> None:
    codec, word = Kryo5Codec(), b"\xff" * 8
    full = java.BitSet(range(64))
    head = codec.encode(full).removesuffix(b"\x01" + word)
    assert codec.decode(head + varint(1) + word) == full
    with pytest.raises(DecodeError, match="a BitSet with more than 1,000,000 bits set"):
        codec.decode(head + varint(20_000) + word * 20_000)
