"""Classes as services have them, declared by generate-classes; the bytes are those of Redisson 4."""

# Values that a codec is to fit into their places, or to refuse there, are none of the declared types:
# mypy: disable-error-code="arg-type, list-item"

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from enum import Enum
from typing import Annotated, Any, Generic, TypeVar

import attrs
import pytest

from redisson_dq import java
from redisson_dq.codecs import (
    Codec,
    JsonJackson3Codec,
    JsonJacksonCodec,
    Kryo5Codec,
    SerializationCodec,
    TypedJsonJackson3Codec,
    TypedJsonJacksonCodec,
)
from redisson_dq.errors import EncodeError
from redisson_dq.java import java_class

_T = TypeVar("_T")
Queue = Annotated[list[_T], java.JavaType("java.util.Queue")]
SortedSet = Annotated[java.OrderedSet[_T], java.JavaType("java.util.SortedSet")]

K = TypeVar("K")
T = TypeVar("T")


@java_class("com.other.min.M$Base", serial_version_uid=6483658009316383467)
@attrs.define
class Base(Generic[K]):
    id: K | None = None


@java_class("com.other.min.M$Cell", serial_version_uid=2953792648503052366)
@attrs.define
class Cell:
    n: int = 0


@java_class("com.other.min.M$Dated", serial_version_uid=3511403579632636954)
@attrs.define
class Dated:
    at: java.JavaDate | None = None
    all: list[java.JavaDate] | None = None


@java_class("com.other.min.M$Gen", serial_version_uid=1674333092477459415)
@attrs.define
class Gen(Generic[T]):
    items: java.Array[T] | None = None


@java_class("com.other.min.M$GenOf", serial_version_uid=4912264929879225191)
@attrs.define
class GenOf:
    gen: Gen[int] | None = None


@java_class("com.other.min.M$Grid", serial_version_uid=1575595890637864575)
@attrs.define
class Grid:
    cells: java.Array[java.Array[Cell]] | None = None


@java_class("com.other.min.M$Kind")
class Kind(Enum):
    A = "A"
    B = "B"


@java_class("com.other.min.M$Mid", serial_version_uid=-1693347874786393716)
@attrs.define
class Mid(Base[java.Long]):
    pass


@java_class("com.other.min.M$Leaf", serial_version_uid=-8289587676704853704)
@attrs.define
class Leaf(Mid):
    pass


@java_class("com.other.min.M$Mapped", serial_version_uid=7087277570115598241)
@attrs.define
class Mapped:
    map: java.HashMap[str, int] | None = None


@java_class("com.other.min.M$Maybe")
@attrs.define
class Maybe:
    number: java.Optional[java.Long] | None = None
    day: java.Optional[dt.date] | None = None
    kind: java.Optional[Kind] | None = None


@java_class("com.other.min.M$Ping", serial_version_uid=-3329817240944096825)
@attrs.define
class Ping:
    pass


@java_class("com.other.min.M$Price", serial_version_uid=8043759406524719772)
@attrs.define
class Price:
    amount: Decimal | None = None
    mode: java.RoundingMode | None = None


@java_class(
    "com.other.min.M$Queued",
    rename={"set_": "set"},
    serial_version_uid=2087187431228066830,
)
@attrs.define
class Queued:
    queue: Queue[str] | None = None
    set_: SortedSet[str] | None = None
    array: java.ObjectArray | None = None
    dates: list[java.JavaDate] | None = None


GEN_KRYO = bytes.fromhex(
    "0100636f6d2e6f746865722e6d696e2e4d2447656e4fe60101636f6d2e6f746865722e6d696e2e4d244765ee03010e00"
)
GEN_JSON = bytes.fromhex(
    "7b2240636c617373223a22636f6d2e6f746865722e6d696e2e4d2447656e4f66222c2267656e223a7b2240636c617373223a"
    "22636f6d2e6f746865722e6d696e2e4d2447656e222c226974656d73223a5b372c6e756c6c5d7d7d"
)
PINGS = bytes.fromhex("01006a6176612e7574696c2e41727261794c6973f4830101636f6d2e6f746865722e6d696e2e4d2450696ee700")
GRID = bytes.fromhex(
    "0100636f6d2e6f746865722e6d696e2e4d24477269e401015b5b4c636f6d2e6f746865722e6d696e2e4d2443656c6cbb0302"
    "0102636f6d2e6f746865722e6d696e2e4d2443656cec0601"
)
DATED = bytes.fromhex(
    "7b2240636c617373223a22636f6d2e6f746865722e6d696e2e4d244461746564222c22616c6c223a5b226a6176612e757469"
    "6c2e41727261794c697374222c5b5b226a6176612e73716c2e54696d657374616d70222c365d2c5b226a6176612e7574696c"
    "2e44617465222c375d5d5d2c226174223a5b226a6176612e73716c2e54696d657374616d70222c355d7d"
)
DATED_3 = bytes.fromhex(
    "7b2240636c617373223a22636f6d2e6f746865722e6d696e2e4d244461746564222c22616c6c223a5b226a6176612e757469"
    "6c2e41727261794c697374222c5b5b226a6176612e73716c2e54696d657374616d70222c22313937302d30312d3031543030"
    "3a30303a30302e3030365a225d2c5b226a6176612e7574696c2e44617465222c22313937302d30312d30315430303a30303a"
    "30302e3030375a225d5d5d2c226174223a5b226a6176612e73716c2e54696d657374616d70222c22313937302d30312d3031"
    "5430303a30303a30302e3030355a225d7d"
)
MAPPED = bytes.fromhex(
    "7b2240636c617373223a22636f6d2e6f746865722e6d696e2e4d244d6170706564222c226d6170223a7b2240636c61737322"
    "3a226a6176612e7574696c2e4c696e6b6564486173684d6170222c2261223a317d7d"
)
MAPPED_S = bytes.fromhex(
    "aced000573720016636f6d2e6f746865722e6d696e2e4d244d6170706564625b1166675577a10200014c00036d6170740013"
    "4c6a6176612f7574696c2f486173684d61703b7870737200176a6176612e7574696c2e4c696e6b6564486173684d617034c0"
    "4e5c106cc0fb0200015a000b6163636573734f72646572787200116a6176612e7574696c2e486173684d61700507dac1c316"
    "60d103000246000a6c6f6164466163746f724900097468726573686f6c6478703f4000000000000177080000000200000001"
    "74000161737200116a6176612e6c616e672e496e746567657212e2a0a4f781873802000149000576616c7565787200106a61"
    "76612e6c616e672e4e756d62657286ac951d0b94e08b0200007870000000017800"
)
MAYBE = bytes.fromhex(
    "7b2240636c617373223a22636f6d2e6f746865722e6d696e2e4d244d61796265222c22646179223a22323032342d30322d32"
    "39222c226b696e64223a2242222c226e756d626572223a353030303030303030307d"
)
LEAF = bytes.fromhex("0100636f6d2e6f746865722e6d696e2e4d244c6561e6093a")
LEAF_S = bytes.fromhex(
    "aced000573720014636f6d2e6f746865722e6d696e2e4d244c6561668cf577ed9b8d313802000078720013636f6d2e6f7468"
    "65722e6d696e2e4d244d6964e88005146231c18c02000078720014636f6d2e6f746865722e6d696e2e4d244261736559fa94"
    "9b8a6b5aeb0200014c000269647400124c6a6176612f6c616e672f4f626a6563743b78707372000e6a6176612e6c616e672e"
    "4c6f6e673b8be490cc8f23df0200014a000576616c7565787200106a6176612e6c616e672e4e756d62657286ac951d0b94e0"
    "8b0200007870000000000000001d"
)
PRICE = bytes.fromhex(
    "0100636f6d2e6f746865722e6d696e2e4d2450726963e501016a6176612e6d6174682e426967446563696d61ec02010005"
)
PRICE_S = bytes.fromhex(
    "aced000573720015636f6d2e6f746865722e6d696e2e4d2450726963656fa12c90049ce29c0200024c0006616d6f756e7474"
    "00164c6a6176612f6d6174682f426967446563696d616c3b4c00046d6f64657400184c6a6176612f6d6174682f526f756e64"
    "696e674d6f64653b7870737200146a6176612e6d6174682e426967446563696d616c54c71557f981284f0300024900057363"
    "616c654c0006696e7456616c7400164c6a6176612f6d6174682f426967496e74656765723b787200106a6176612e6c616e67"
    "2e4e756d62657286ac951d0b94e08b020000787000000000737200146a6176612e6d6174682e426967496e74656765728cfc"
    "9f1fa93bfb1d030006490008626974436f756e744900096269744c656e67746849001366697273744e6f6e7a65726f427974"
    "654e756d49000c6c6f776573745365744269744900067369676e756d5b00096d61676e69747564657400025b427871007e00"
    "06fffffffffffffffffffffffefffffffe00000001757200025b42acf317f8060854e00200007870000000010178787e7200"
    "166a6176612e6d6174682e526f756e64696e674d6f646500000000000000001200007872000e6a6176612e6c616e672e456e"
    "756d0000000000000000120000787074000748414c465f5550"
)
QUEUED = bytes.fromhex(
    "0100636f6d2e6f746865722e6d696e2e4d245175657565e401015b4c6a6176612e6c616e672e4f626a656374bb0202020102"
    "6a6176612e7574696c2e41727261794c6973f48201036a6176612e7574696c2e446174e5000501046a6176612e7574696c2e"
    "4c696e6b65644c6973f402826101056a6176612e7574696c2e547265655365f402008262"
)
QUEUED_S = bytes.fromhex(
    "aced000573720016636f6d2e6f746865722e6d696e2e4d245175657565641cf72de90a024c0e0200045b0005617272617974"
    "00135b4c6a6176612f6c616e672f4f626a6563743b4c000564617465737400104c6a6176612f7574696c2f4c6973743b4c00"
    "0571756575657400114c6a6176612f7574696c2f51756575653b4c00037365747400154c6a6176612f7574696c2f536f7274"
    "65645365743b7870757200135b4c6a6176612e6c616e672e4f626a6563743b90ce589f1073296c0200007870000000017372"
    "00116a6176612e6c616e672e496e746567657212e2a0a4f781873802000149000576616c7565787200106a6176612e6c616e"
    "672e4e756d62657286ac951d0b94e08b020000787000000001737200136a6176612e7574696c2e41727261794c6973747881"
    "d21d99c7619d03000149000473697a657870000000017704000000017372000e6a6176612e7574696c2e44617465686a8101"
    "4b5974190300007870770800000000000000057878737200146a6176612e7574696c2e4c696e6b65644c6973740c29535d4a"
    "60882203000078707704000000017400016178737200116a6176612e7574696c2e54726565536574dd98509395ed875b0300"
    "007870707704000000017400016278"
)

AT = dt.datetime(1970, 1, 1, tzinfo=dt.timezone.utc)


def stamp(millis: int) -> dt.datetime:
    return AT + dt.timedelta(milliseconds=millis)


CASES = {
    "array of a type variable, kryo": (Kryo5Codec(), GEN_KRYO, GenOf(Gen(java.Array("java.lang.Integer", [7, None])))),
    "array of a type variable, json": (
        JsonJacksonCodec(),
        GEN_JSON,
        GenOf(Gen(java.Array("java.lang.Integer", [7, None]))),
    ),
    "elements without fields": (Kryo5Codec(), PINGS, [Ping(), Ping()]),
    "arrays in an array": (
        Kryo5Codec(),
        GRID,
        Grid(
            java.Array(
                "[Lcom.other.min.M$Cell;",
                [java.Array("com.other.min.M$Cell", [Cell(3)]), java.Array("com.other.min.M$Cell")],
            )
        ),
    ),
    "timestamp where a date is declared": (
        JsonJacksonCodec(),
        DATED,
        Dated(java.Timestamp(stamp(5)), [java.Timestamp(stamp(6)), java.JavaDate(stamp(7))]),
    ),
    "timestamp where a date is declared, 3": (
        JsonJackson3Codec(),
        DATED_3,
        Dated(java.Timestamp(stamp(5)), [java.Timestamp(stamp(6)), java.JavaDate(stamp(7))]),
    ),
    "LinkedHashMap where a HashMap is declared": (JsonJacksonCodec(), MAPPED, Mapped({"a": 1})),
    "Optional with a type": (
        JsonJackson3Codec(),
        MAYBE,
        Maybe(java.Optional(5_000_000_000), java.Optional(dt.date(2024, 2, 29)), java.Optional(Kind.B)),
    ),
    "argument from two classes up": (Kryo5Codec(), LEAF, Leaf(java.Long(29))),
    "argument from two classes up, serialization": (SerializationCodec(), LEAF_S, Leaf(java.Long(29))),
    "an enum of the JDK": (Kryo5Codec(), PRICE, Price(Decimal(1), java.RoundingMode.HALF_UP)),
    "an enum of the JDK, serialization": (SerializationCodec(), PRICE_S, Price(Decimal(1), java.RoundingMode.HALF_UP)),
}


@pytest.mark.parametrize("name", CASES)
def test_what_java_wrote_comes_back_and_is_written_again(name: str) -> None:
    codec, data, value = CASES[name]
    found = codec.decode(data)
    assert found == value
    assert repr(found) == repr(value) or "type variable" not in name
    assert codec.encode(found) == data


def test_a_linked_hash_map_stays_one_in_serialization() -> None:  # its capacity is not kept
    assert b"java.util.LinkedHashMap" in SerializationCodec().encode(SerializationCodec().decode(MAPPED_S))


def test_a_type_argument_makes_the_number() -> None:
    plain = Maybe(java.Optional(5), java.Optional(dt.date(2024, 2, 29)), java.Optional(Kind.B))
    assert b'"number":5}' in JsonJackson3Codec().encode(plain)
    assert Kryo5Codec().encode(Leaf(29)) == LEAF
    assert SerializationCodec().encode(Leaf(29)) == LEAF_S


@pytest.mark.parametrize(("codec", "data"), [(Kryo5Codec(), QUEUED), (SerializationCodec(), QUEUED_S)])
def test_plain_values_become_what_the_field_declares(codec: Codec, data: bytes) -> None:
    plain: Any = Queued(queue=["a"], set_={"b"}, array=[1], dates=[stamp(5)])
    assert codec.encode(plain) == data


def test_a_list_in_an_array_field() -> None:
    assert Kryo5Codec().encode(GenOf(Gen([7, None]))) == GEN_KRYO
    assert Kryo5Codec().encode(Grid([[Cell(3)], []])) == GRID


@java_class("com.other.min.M$Places", serial_version_uid=1)
@attrs.define
class Places:
    items: list[str] | None = None
    tags: set[str] | None = None
    counts: dict[str, int] | None = None
    any: Annotated[Any, java.JavaType("java.util.Collection<java.lang.String>")] = None
    grid: java.Array[java.Array[Cell]] | None = None
    cell: Cell | None = None
    base: Base[java.Long] | None = None


MISPLACED: list[tuple[str, Any]] = [
    *[("items", value) for value in ("ab", 5, {"a"}, {"a": 1}, Cell(1))],
    *[("tags", value) for value in ("ab", ["a"], {"a": 1}, java.LinkedList(["a"]))],
    *[("counts", value) for value in ("ab", ["a"], {"a"})],
    *[("any", value) for value in ("ab", 5, {"a": 1})],
    *[("grid", value) for value in ("ab", 5, {"a"}, Cell(1))],
    *[("cell", value) for value in (5, "ab", [Cell(1)], Ping())],
    ("base", Cell(1)),
]
#: Those that go by the types of fields.
TYPED = [Kryo5Codec(), Kryo5Codec(references=True), SerializationCodec(), JsonJacksonCodec(), JsonJackson3Codec()]
TYPED += [TypedJsonJacksonCodec(Places), TypedJsonJackson3Codec(Places)]


@pytest.mark.parametrize(("name", "value"), MISPLACED)
@pytest.mark.parametrize("codec", TYPED, ids=repr)
def test_what_a_field_cannot_hold_is_refused(codec: Codec, name: str, value: Any) -> None:
    with pytest.raises(EncodeError) as caught:
        codec.encode(Places(**{name: value}))
    assert caught.value.path == f"$['{name}']"


@pytest.mark.parametrize("codec", TYPED, ids=repr)
def test_what_a_field_can_hold_comes_back(codec: Codec) -> None:
    full = Places(["a"], {"b"}, {"c": 1}, ["d"], java.Array("[Lcom.other.min.M$Cell;", []), Cell(2), Leaf(java.Long(3)))
    back = codec.decode(codec.encode(full))
    assert (back.items, back.tags, back.counts, back.any) == (["a"], {"b"}, {"c": 1}, ["d"])
    assert (back.grid, back.cell, back.base.id) == ([], Cell(2), 3)
    assert codec.decode(codec.encode(Places(any={"d"}))).any in ({"d"}, ["d"])  # a bare JSON array is a list


@pytest.mark.parametrize("value", [5, "ab", [Places()], Cell(1)])
@pytest.mark.parametrize("codec", TYPED[-2:], ids=repr)
def test_a_codec_of_one_type_takes_no_other(codec: Codec, value: Any) -> None:
    with pytest.raises(EncodeError, match=r"cannot be a com\.other\.min\.M\$Places"):
        codec.encode(value)


# Parameters that Kryo takes for those of the superclass

A = TypeVar("A")


@java_class("com.acme.generic.Base", serial_version_uid=1)
@attrs.define
class OwnBase(Generic[A]):
    base: A | None = None


@java_class("com.acme.generic.Named", serial_version_uid=1)
@attrs.define
class OwnNamed(OwnBase[str], Generic[A]):
    own: A | None = None
    more: list[A] | None = None


@java_class("com.acme.generic.Holder", serial_version_uid=1)
@attrs.define
class OwnHolder:
    texts: OwnNamed[str] | None = None
    characters: OwnNamed[java.char] | None = None
    lists: OwnNamed[list[str]] | None = None


@pytest.mark.parametrize(
    "value",
    [
        OwnHolder(characters=OwnNamed("a", "b")),
        OwnHolder(characters=OwnNamed("a", None, ["b"])),
        OwnHolder(lists=OwnNamed("a", ["b"])),
        OwnHolder(lists=OwnNamed("a", None, [["b"]])),
    ],
)
def test_what_kryo_would_write_as_another_class_is_an_error(value: OwnHolder) -> None:
    """A Character was written as a String, which Java put into the field."""
    for codec in (SerializationCodec(), JsonJacksonCodec()):
        assert codec.decode(codec.encode(value)) == value
    with pytest.raises(EncodeError, match=r"com.acme.generic.Named.(own|more): .* cannot be a java.lang.String"):
        Kryo5Codec().encode(value)
    right = OwnHolder(texts=OwnNamed("a", "b", ["c"]), characters=OwnNamed("a"), lists=OwnNamed())
    assert Kryo5Codec().decode(Kryo5Codec().encode(right)) == right
