"""What a field of each declared type holds: plain values become one of it, and every other is refused."""

# Values that a field is to convert or to refuse are none of its type:
# mypy: disable-error-code="arg-type, list-item, dict-item"

from __future__ import annotations

import dataclasses
import datetime as dt
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from decimal import Decimal
from enum import IntEnum
from typing import Annotated, Any, Generic, NamedTuple, TypeVar
from uuid import UUID
from zoneinfo import ZoneInfo

import attrs
import pytest

from redisson_dq import java
from redisson_dq.codecs import (
    CborJacksonCodec,
    Codec,
    JsonJackson3Codec,
    JsonJacksonCodec,
    Kryo5Codec,
    MsgPackJacksonCodec,
    ProtobufCodec,
    SerializationCodec,
)
from redisson_dq.codecs.marks import other_bytes
from redisson_dq.errors import DecodeError, EncodeError
from redisson_dq.java import conversions, hierarchy, java_class
from redisson_dq.java.hierarchy import class_name, is_assignable, kind_of
from redisson_dq.java.orders import sorted_by
from redisson_dq.java.places import place_of
from redisson_dq.java.signatures import JavaType, Signature
from tests.conftest import as_many
from tests.unit.codecs.acme import Color, Planet

T = TypeVar("T")
UTC = dt.timezone.utc
MOMENT = dt.datetime(2024, 2, 29, 12, 30, 15, 123000, tzinfo=UTC)
NAIVE = MOMENT.replace(tzinfo=None)

#: Plain values, as a Python program has them.
PLAIN: list[Any] = [
    *(
        True,
        0,
        5,
        -1,
        200,
        40_000,
        2**31,
        2**40,
        2**53 + 1,
        2**63,
        10**400,
        2.5,
        -0.0,
        1e300,
        float("nan"),
        float("inf"),
    ),
    *("", "x", "text", "EUR", "UTF-8", "latin-1", "Europe/Berlin", "Nowhere/City", "+02:00", "UTC+1", "no zone"),
    *("https://example.org/a?b=c", "a b", b"\1\2", bytearray(b"\3"), Decimal("1.50"), Decimal("NaN"), UUID(int=5)),
    *(MOMENT, NAIVE, MOMENT.astimezone(ZoneInfo("Europe/Berlin")), dt.date(2024, 2, 29), dt.time(12, 30)),
    *(dt.time(12, 30, tzinfo=UTC), dt.timedelta(seconds=5)),
    *([], [1, 2], ["b", "a"], [None], (1, 2), set(), {3, 1, 2}, {"b", "a"}, frozenset((1,)), {-1}, {1, "a"}),
    *({}, {"b": 1, "a": 2}, {2: "x", 1: "y"}, {"a": None}, OrderedDict(b=1), defaultdict(list, a=[1])),
    *({Color.RED, Color.BLUE}, {Color.RED: 1}, {Color.RED, Planet.EARTH}, Color.RED, Planet.EARTH),
]
#: Values that say their Java class.
WRAPPED: list[Any] = [
    *(
        java.Byte(5),
        java.Short(5),
        java.Integer(5),
        java.Long(5),
        java.BigInteger(5),
        java.Float(1.5),
        java.Double(1.5),
    ),
    *(java.Character("x"), java.StringBuilder("x"), java.Uri("a:b"), java.ZoneId("Europe/Berlin"), java.ZoneOffset(60)),
    *(java.LinkedList([1]), java.ArrayDeque([1]), java.TreeSet([1]), java.LinkedHashSet([1]), java.HashMap({"a": 1})),
    *(java.TreeMap({"a": 1}), java.ConcurrentHashMap({"a": 1}), java.EnumSet(Color, [Color.RED]), java.BitSet({1})),
    *(java.EnumMap(Color, {Color.RED: 1}), java.IntArray([1]), java.StringArray(["a"]), java.unmodifiable([1])),
    *(java.Instant(MOMENT), java.JavaDate(MOMENT), java.Timestamp(MOMENT), java.LocalDateTime(NAIVE), java.Year(5)),
    *(java.AtomicInteger(5), java.AtomicLong(5), java.Optional(5), java.OptionalInt(5), java.Locale("de")),
]


class Status(IntEnum):
    OK = 200


class Sku(str):
    __slots__ = ()


class Pair(NamedTuple):
    first: int
    second: int


ODD: list[Any] = [Status.OK, Sku("a"), Pair(1, 2), deque([1]), object(), 1j, range(3), iter([1]), ValueError("x")]

#: Every declared type that is known, and some of which nothing is.
DECLARED = sorted(
    {
        *conversions.TABLE,
        *(name for name in hierarchy.jdk_types() if "$" not in name and not name.endswith(("Exception", "Error"))),
        *("[I", "[B", "[C", "[Ljava.lang.String;", "[Ljava.lang.Long;", "[Ljava.lang.Object;", "[[J"),
        *("com.acme.Color", "com.acme.Shape", "com.acme.Undeclared", "java.lang.Runnable", "java.lang.Object"),
    }
)
CODECS: list[Any] = [
    *(Kryo5Codec(), Kryo5Codec(references=True), SerializationCodec()),
    *(JsonJacksonCodec(java_time="numbers"), JsonJackson3Codec(), MsgPackJacksonCodec(), CborJacksonCodec()),
]


@java_class("com.acme.places.Cash", serial_version_uid=1)
@attrs.define
class Cash:
    amount: Decimal | None = None
    amounts: list[Decimal] = attrs.Factory(list)
    people: list[Planet] = attrs.Factory(list)
    count: java.int = 0


#: Only one in this many types is tried with each codec.
ONE_OF = as_many(4, 1)
#: By declared type: a class with one field of it.
HOLDERS: dict[str, Any] = {}


def holder(declared: str) -> Any:
    """A class with a field of that type."""
    found = HOLDERS.get(declared)
    if found is None:
        name = f"com.acme.places.H{len(HOLDERS)}"
        source = declared
        dimensions = len(source) - len(source.lstrip("["))
        if dimensions:
            code = source[dimensions:]
            source = code[1:-1] if code[0] == "L" else {"I": "int", "B": "byte", "C": "char", "J": "long"}[code]
            source += "[]" * dimensions
        annotations = {"held": Annotated[Any, JavaType(source)]}
        made: Any = dataclasses.dataclass(
            type(f"H{len(HOLDERS)}", (), {"__annotations__": annotations, "__module__": __name__})
        )
        found = HOLDERS[declared] = java_class(name, serial_version_uid=1)(made)
    return found


def java_type_of(value: Any) -> str | None:
    return value.java_name if isinstance(value, (java.Array, java.Throwable)) else class_name(value)


def refusal(put: Callable[[], Any]) -> Exception | None:
    """The error of what is refused."""
    try:
        put()
    except (EncodeError, conversions.Misfit) as error:
        return error
    return None


@pytest.mark.parametrize("declared", DECLARED)
def test_each_value_is_of_the_declared_type_or_refused(declared: str) -> None:
    place = place_of(Signature(declared))
    for value in (*PLAIN, *WRAPPED, *ODD):
        refused = None if place is None else refusal(lambda value=value: place(value, {}))  # type: ignore[misc]
        if refused is not None:
            assert f"cannot be a {declared}" in str(refused) or "of type" in str(refused), value
            continue
        placed = value if place is None else place(value, {})
        if declared in PRIMITIVES:
            assert type(placed) in PRIMITIVES[declared], value
        elif place is not None:
            assert is_assignable(java_type_of(placed) or "", declared), (value, placed)


PRIMITIVES: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(("byte", "short", "int", "long"), (int,)),
    "float": (java.Float,),
    "double": (float,),
    "boolean": (bool,),
    "char": (str,),
}


@pytest.mark.parametrize("codec", CODECS, ids=repr)
def test_a_field_of_each_type_comes_back_as_one_of_it_or_is_refused(codec: Codec) -> None:
    """The matrix of declared types and values."""
    written = 0
    # By day the types are shared out among the codecs.
    for declared in DECLARED[CODECS.index(codec) % ONE_OF :: ONE_OF]:
        kind = holder(declared)
        place = place_of(Signature(declared))
        for value in (None, *PLAIN, *WRAPPED, *ODD):
            refused = refusal(lambda kind=kind, value=value: codec.encode(kind(value)))  # type: ignore[misc]
            if refused is not None:
                assert isinstance(refused, EncodeError)
                assert refused.path.startswith("$['held']"), (declared, value)
                continue
            back = codec.decode(codec.encode(kind(value))).held
            if place is not None and back is not None:
                # A value that was read also has the type: it is written again unchanged.
                assert codec.encode(kind(back)) == codec.encode(kind(place(value, {}))), (declared, value, back)
                written += 1
    assert written > 1_000 // ONE_OF


@pytest.mark.parametrize("codec", [*CODECS, ProtobufCodec(Cash)], ids=repr)
def test_a_refusal_names_class_field_declared_type_and_value(codec: Codec) -> None:
    for cash, text, path in (
        (Cash(amount=2.5), "amount: 2.5 of type float cannot be a java.math.BigDecimal", "$['amount']"),
        (Cash(count=2**40), "count: 1099511627776 of type int cannot be a int", "$['count']"),
        (Cash(count=None), "count: None of type NoneType cannot be a int", "$['count']"),
        (Cash(amounts=[1, "x"]), "amounts: 'x' of type str cannot be a java.math.BigDecimal", "$['amounts'][1]"),
        (Cash(people=[Color.RED]), "people: Color.RED of type tests.unit", "$['people'][0]"),
    ):
        with pytest.raises(EncodeError) as caught:
            codec.encode(cash)
        if not (isinstance(codec, ProtobufCodec) and cash.count is None):
            assert f"com.acme.places.Cash.{text}" in str(caught.value)
        assert caught.value.path == path


@pytest.mark.parametrize(
    ("declared", "text"),
    [
        *(("java.util.Currency", text) for text in ("UTC", "eur", "", "EUR ")),
        *(
            ("java.lang.Class", text)
            for text in ("com.acme.Undeclared", "java.lang.string", "[void", "[" * 256 + "I", "")
        ),
        *(("java.net.URI", text) for text in (":", "1:2", "//", "a:", "a b", "%4", "//x[::1]")),
        *(("java.net.URL", text) for text in ("x:y", "http://a:b", "http://[::x]", "//a")),
        *(("java.util.regex.Pattern", text) for text in ("a+", "(", "(?P<x>a)")),
    ],
)
def test_a_text_that_not_every_jvm_reads_is_refused(declared: str, text: str) -> None:
    place = place_of(Signature(declared))
    assert place is not None
    with pytest.raises(conversions.Misfit):
        place(text, {})


def test_an_array_of_objects_is_no_array_of_the_bound_of_a_variable() -> None:
    """Java cannot put an ``Object[]`` into a field ``T[]`` whose T extends Comparable."""
    assert not is_assignable("[Ljava.lang.Object;", "[Ljava.lang.Comparable;")
    assert not is_assignable("java.lang.Object", "java.io.Serializable")
    assert is_assignable("[Ljava.lang.Object;", "[Ljava.lang.Object;")


@pytest.mark.parametrize("name", ["java.lang.Record", "java.lang.StackTraceElement", "void"])
def test_kryo_refuses_the_classes_that_it_has_no_serializer_for(name: str) -> None:
    with pytest.raises(EncodeError, match="which Kryo does not read"):
        Kryo5Codec().encode([java.JavaClass(name)])


@pytest.mark.parametrize("codec", CODECS, ids=repr)
def test_properties_hold_what_java_reads_of_them(codec: Codec) -> None:
    texts = java.Properties({"a": "b"})
    assert codec.decode(codec.encode([texts])) == [texts]
    for value in (5, 1.5, True, [1], {"a": 1}, java.Character("x"), java.Uri("a:b"), b"ab"):
        refused = refusal(lambda value=value: codec.encode([java.Properties({"a": value})]))  # type: ignore[misc]
        assert (refused is None) == isinstance(codec, (Kryo5Codec, SerializationCodec))
        assert refused is None or "cannot be a java.lang.String (at $[0]['a'])" in str(refused)


def test_a_bit_set_that_jackson_wrote_has_no_bits() -> None:
    data = b'["java.util.ArrayList",[{"@class":"java.util.BitSet","empty":%b}]]'
    assert JsonJacksonCodec().decode(data % b"true") == [java.BitSet()]
    with pytest.raises(DecodeError, match=r"a java\.util\.BitSet, of whose bits Jackson writes nothing \(offset"):
        JsonJacksonCodec().decode(data % b"false")


def test_numbers_in_properties_come_back_as_what_java_reads() -> None:
    data = b'{"@class":"java.util.Properties","a":5,"b":1.50,"c":true,"d":"x"}'
    codec = JsonJacksonCodec()
    found = codec.decode(data)
    assert found == {"a": "5", "b": "1.5", "c": "true", "d": "x"}
    assert "as texts" in other_bytes(found)


@java_class("com.acme.places.Range", serial_version_uid=1)
@dataclasses.dataclass
class Range(Generic[T]):
    low: T
    high: T


@java_class("com.acme.places.Shift", record=True)
@attrs.frozen
class Shift:
    hours: list[java.Long]
    spans: dict[str, Range[Decimal]]
    base: Range[Any] | None = None


@java_class("com.acme.places.Open", serial_version_uid=1)
@dataclasses.dataclass
class Open(Range[T]):
    step: T


@java_class("com.acme.places.Nested", serial_version_uid=1)
@attrs.define
class Nested:
    ranges: list[Range[java.Long]] = attrs.Factory(list)
    base: Range[java.Long] | None = None
    deep: dict[str, list[dict[str, java.Long]]] | None = None
    same: list[list[java.Long]] | None = None


OBJECT_CODECS: list[Any] = [*CODECS[:4], CODECS[5]]


@pytest.mark.parametrize("codec", OBJECT_CODECS, ids=repr)
def test_type_arguments_reach_records_generic_classes_and_nested_collections(codec: Codec) -> None:
    plain = Nested([Range(1, 2)], Range(3, 4), {"a": [{"b": 5}]}, [[6]])
    said = Nested(
        [Range(java.Long(1), java.Long(2))],
        Range(java.Long(3), java.Long(4)),
        {"a": [{"b": java.Long(5)}]},
        [[java.Long(6)]],
    )
    assert codec.encode(plain) == codec.encode(said)
    assert codec.decode(codec.encode(plain)) == said
    shift = Shift([1], {"a": Range(1, 2)}, Range(1, "x"))
    back = codec.decode(codec.encode(shift))
    assert repr(back) == repr(Shift([java.Long(1)], {"a": Range(Decimal(1), Decimal(2))}, Range(1, "x")))


@pytest.mark.parametrize("codec", [Kryo5Codec(), Kryo5Codec(references=True), SerializationCodec()], ids=repr)
def test_a_superclass_and_an_alias_give_their_arguments(codec: Codec) -> None:
    long = java.Long
    held = Nested([Open(1, 2, 3)])
    assert repr(codec.decode(codec.encode(held)).ranges) == repr([Open(long(1), long(2), long(3))])
    assert repr(codec.decode(codec.encode(Range[java.Long](5, 6)))) == repr(Range(long(5), long(6)))
    assert repr(codec.decode(codec.encode([Range(5, 6)]))) == repr([Range(5, 6)])
    with pytest.raises(EncodeError, match=r"com\.acme\.places\.Range\.high: 'x' of type str cannot be"):
        codec.encode(Nested([Range(1, "x")]))


def test_a_shared_list_that_is_right_stays_shared() -> None:
    shared = [java.Long(5)]
    back = SerializationCodec().decode(SerializationCodec().encode(Nested(same=[shared, shared])))
    assert back.same[0] is back.same[1]


def test_the_value_of_the_caller_is_not_changed() -> None:
    longs, cash = [1, 2], Cash(amounts=[5], amount=5)
    for codec in CODECS:
        codec.encode(Nested(same=[longs]))
        codec.encode(cash)
    assert repr((longs, cash.amounts, cash.amount)) == "([1, 2], [5], 5)"


@pytest.mark.parametrize("value", [*PLAIN, *WRAPPED], ids=lambda value: type(value).__name__)
def test_the_class_of_a_value_is_the_one_that_kryo_writes(value: Any) -> None:
    found = class_name(value)
    refused = refusal(lambda: Kryo5Codec().encode([value]))
    if refused is None and found is not None and found[0] != "[" and kind_of(found) != "A":
        assert class_name(Kryo5Codec().decode(Kryo5Codec().encode([value]))[0]) == found


@pytest.mark.parametrize(
    "items",
    [
        ["a", "b", "\U0001f600", "\uffff"],
        [java.Long(1), java.Long(2), java.Long(3)],
        [-1.0, -0.0, 1.0, float("inf"), float("nan")],
        [UUID(int=1 << 127), UUID(int=1 << 63), UUID(int=0), UUID(int=1)],
        [Planet.MERCURY, Planet.EARTH, Planet.PLUTO],
        [dt.date(2020, 1, 1), dt.date(2024, 1, 1)],
    ],
    ids=repr,
)
def test_sorted_collections_are_written_to_serialization_in_javas_order(items: list[Any]) -> None:
    """Java takes them as sorted: an element out of its order is one that it does not find."""
    codec = SerializationCodec()
    for kind in (java.TreeSet, java.ConcurrentSkipListSet):
        for order, comparator in ((items, None), (items[::-1], java.Comparator.REVERSE_ORDER)):
            made: Any = kind(items[1:] + items[:1], comparator)
            assert repr(list(codec.decode(codec.encode(made)))) == repr(order)
    assert repr(sorted_by(None, items[::-1], lambda item: item)) == repr(items)
    back = codec.decode(codec.encode(java.TreeMap(dict.fromkeys(items[::-1], 1))))
    assert repr([*back]) == repr(items)


@java_class("com.acme.places.Letter", serial_version_uid=1)
@attrs.define
class Letter:
    sign: java.char


@pytest.mark.parametrize("codec", CODECS, ids=repr)
def test_a_character_stands_where_a_char_is_declared(codec: Any) -> None:
    """Objects of classes that are not declared have Characters in such fields when they are read."""
    assert codec.encode([Letter(java.Character("x"))]) == codec.encode([Letter("x")])


# What Java's collections do not hold

#: With what each of them holds beside the null.
WITHOUT_NULLS: list[Any] = [
    *(
        kind([1, None, 2])
        for kind in (
            *(java.ArrayDeque, java.PriorityQueue, java.ConcurrentLinkedQueue, java.ConcurrentLinkedDeque),
            *(java.LinkedBlockingQueue, java.LinkedBlockingDeque, java.PriorityBlockingQueue),
            *(java.TreeSet, java.ConcurrentSkipListSet),
        )
    ),
    *(
        kind(pairs)
        for kind in (java.Hashtable, java.ConcurrentHashMap, java.ConcurrentSkipListMap, java.Properties, java.MapOf)
        for pairs in ({"a": "b", "c": None}, {"a": "b", None: "c"})
    ),
    java.TreeMap({"a": 1, None: 2}),
    java.Elements("java.util.TreeSet", [[1], None]),
    java.Entries("java.util.concurrent.ConcurrentHashMap", [(None, 1)]),
]


@pytest.mark.parametrize("codec", CODECS, ids=repr)
def test_a_null_in_a_collection_that_holds_none_is_an_error(codec: Codec) -> None:
    """Java fails when it reads one, or takes it for the end and drops the rest."""
    for value in WITHOUT_NULLS:
        with pytest.raises(EncodeError, match=r"null|None") as caught:
            codec.encode([value])
        assert caught.value.path.startswith("$[0]"), value
    assert codec.decode(codec.encode([java.TreeMap({"a": None})])) == [{"a": None}]


@java_class("com.acme.places.Stages", serial_version_uid=1)
@attrs.define
class Stages:
    lengths: java.EnumMap[Color, list[java.long]] | None = None


@pytest.mark.parametrize("codec", CODECS, ids=repr)
def test_what_the_values_of_an_enum_map_hold_is_of_the_declared_type(codec: Codec) -> None:
    found = codec.decode(codec.encode([Stages({Color.RED: [5]})]))[0].lengths
    assert (found, type(found[Color.RED][0])) == ({Color.RED: [5]}, java.Long)
    with pytest.raises(EncodeError, match=r"'a' of type str cannot be a java.lang.Long"):
        codec.encode([Stages({Color.RED: ["a"]})])


def test_a_text_that_jackson_reads_as_null_is_an_error() -> None:
    for codec in (JsonJacksonCodec(), JsonJackson3Codec(), CborJacksonCodec()):
        with pytest.raises(EncodeError, match="which Jackson reads as null"):
            codec.encode([java.Pattern("")])
