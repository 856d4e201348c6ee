"""JsonJacksonCodec where the golden files do not reach: more classes, limits, hostile bytes, errors."""

from __future__ import annotations

import enum
from collections import OrderedDict
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any

import attrs
import pytest

from redisson_dq import java
from redisson_dq.codecs import (
    CborJacksonCodec,
    IonJacksonCodec,
    JsonJacksonCodec,
    MsgPackJacksonCodec,
    SmileJacksonCodec,
    TypedJsonJacksonCodec,
)
from redisson_dq.errors import ArgumentError, DecodeError, EncodeError
from redisson_dq.java import BigInteger, Byte, Character, Double, EnumMap, EnumSet, Float, Integer, Long, Short, Uri
from tests.unit.codecs.acme import Color, Point
from tests.unit.codecs.golden_rows import caught_from, nested, same, with_little_stack

codec = JsonJacksonCodec()
NAN = float("nan")

# Written by Redisson 3.20.0, 3.50.0 and 4, all three the same, and by this library.
WRITTEN: list[tuple[str, Any]] = [
    ("5", 5),
    ('["java.lang.Long",2147483648]', 2**31),
    ('["java.lang.Long",5]', Long(5)),
    ('["java.math.BigInteger",18446744073709551616]', 2**64),
    ('["java.math.BigInteger",5]', BigInteger(5)),
    ('["java.math.BigDecimal",1.50]', Decimal("1.50")),
    (
        '"q\\"\\\\/\\b\\f\\n\\r\\t\\u0001\\u001F\x7f\x80\u2028\u2029\ufeff<>&\'"',
        "q\"\\/\b\f\n\r\t\x01\x1f\x7f\x80\u2028\u2029\ufeff<>&'",
    ),
    ('"a\\uD83D\\uDE00b"', "a\U0001f600b"),
    ('"\\uDC00\\uD800"', "\udc00\ud800"),
    ('["java.util.ArrayList",[]]', []),
    ('["java.util.ArrayList",["a",5,["java.lang.Long",5],null,true,1.5]]', ["a", 5, Long(5), None, True, 1.5]),
    (
        '["java.util.ArrayList",[["java.lang.Short",1],["java.lang.Byte",2],["java.lang.Character","c"],'
        '["java.lang.Float",1.1]]]',
        [Short(1), Byte(2), Character("c"), Float(1.1)],
    ),
    (
        '["java.util.ArrayList",[["java.lang.Float","NaN"],["java.lang.Double","NaN"],'
        '["java.lang.Double","Infinity"],["java.lang.Float","-Infinity"]]]',
        [Float(NAN), NAN, float("inf"), Float(float("-inf"))],
    ),
    ('["java.util.ArrayList",[["[B","AQ=="],["[B","AgM="],["[B",""]]]', [b"\x01", b"\x02\x03", b""]),
    ('{"@class":"java.util.LinkedHashMap"}', {}),
    ('{"@class":"java.util.LinkedHashMap","@class":"x","a":1}', {"@class": "x", "a": 1}),
    ('{"@class":"java.util.LinkedHashMap","k\\"\\n\\uD83D\\uDE00\u00e9":1,"":2}', {'k"\n\U0001f600\u00e9': 1, "": 2}),
    (
        '{"@class":"java.util.LinkedHashMap","n":["java.lang.Long",5],"l":["java.util.ArrayList",[1,2]],'
        '"m":{"@class":"java.util.LinkedHashMap"}}',
        {"n": Long(5), "l": [1, 2], "m": {}},
    ),
]


@pytest.mark.parametrize(("text", "value"), WRITTEN)
def test_bytes_are_javas(text: str, value: Any) -> None:
    assert codec.encode(value).decode() == text
    assert same(codec.decode(text.encode()), value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Short(5), "5"),
        (Byte(-128), "-128"),
        (Integer(5), "5"),
        (Character("a"), '"a"'),
        (Float(1.1), "1.1"),
        (Float(1e10), "1.0E10"),
        (Double(1e10), "1.0E10"),
        (1e-5, "1.0E-5"),
        (Decimal("1E+3"), '["java.math.BigDecimal",1000]'),
        (Decimal("0E+3"), '["java.math.BigDecimal",0]'),
        (Decimal("0E+5000"), '["java.math.BigDecimal",0]'),
        (Decimal("-0.00"), '["java.math.BigDecimal",0.00]'),
        (Decimal("1E-10"), '["java.math.BigDecimal",0.0000000001]'),
        (bytearray(b"\x01"), '["[B","AQ=="]'),
        (memoryview(b"\x01\x02\x03")[::2], '["[B","AQM="]'),
        (OrderedDict(a=1), '{"@class":"java.util.LinkedHashMap","a":1}'),
        (type("Names", (list,), {})(["a"]), '["java.util.ArrayList",["a"]]'),
        ([type("Text", (str,), {})("a")], '["java.util.ArrayList",["a"]]'),
        (type("Id", (Long,), {})(5), '["java.lang.Long",5]'),
    ],
)
def test_other_values_are_written_as_java_does(value: Any, text: str) -> None:
    assert codec.encode(value).decode() == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (NAN, '["java.lang.Double","NaN"]'),
        (float("-inf"), '["java.lang.Double","-Infinity"]'),
        (Float(NAN), '["java.lang.Float","NaN"]'),
        (b"\x01", '["[B","AQ=="]'),
        ({"a": None}, '{"@class":"java.util.LinkedHashMap","a":null}'),
    ],
)
def test_what_java_would_lose_is_written_so_that_java_reads_it(value: Any, text: str) -> None:
    assert codec.encode(value).decode() == text
    assert same(codec.decode(text.encode()), value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (' [ "java.util.ArrayList" , [ 1 , 2 ] ] ', [1, 2]),
        ('{"a":1,"@class":"java.util.HashMap","b":2}', java.HashMap({"a": 1, "b": 2})),
        ('{"@class":"java.util.LinkedHashMap","a":1,"a":2}', {"a": 2}),
        ('{"@class":"java.util.TreeMap","b":1,"a":2}', java.TreeMap({"b": 1, "a": 2})),
        ('{"@class":"java.util.Collections$EmptyMap"}', java.EmptyMap()),
        ('{"@class":"java.util.ImmutableCollections$Map1","a":1}', java.MapOf({"a": 1})),
        ('["java.util.Arrays$ArrayList",["a",1]]', java.ArrayAsList(["a", 1])),
        ('["java.util.Collections$SingletonList",[null]]', java.SingletonList([None])),
        ('["java.util.ImmutableCollections$List12",[1]]', java.ListOf([1])),
        ('["java.util.LinkedHashSet",[3,1,"q"]]', java.LinkedHashSet([3, 1, "q"])),
        ('["java.util.Collections$EmptySet",[]]', java.EmptySet()),
        ('["java.util.TreeSet",["a","b"]]', java.TreeSet(["a", "b"])),
        (
            '["java.util.Collections$UnmodifiableSet",[["java.util.ArrayList",[]]]]',
            java.ElementsView("java.util.Collections$UnmodifiableSet", java.Elements("java.util.LinkedHashSet", [[]])),
        ),
        ('["java.util.HashSet",[1,"a"]]', {1, "a"}),
        ('["java.util.HashSet",[["java.util.ArrayList",[]]]]', java.Elements("java.util.HashSet", [[]])),
        ('["java.util.HashSet",[1,["java.lang.Long",1]]]', java.Elements("java.util.HashSet", [1, Long(1)])),
        ("5000000000", 5000000000),
        ("99999999999999999999999", 99999999999999999999999),
        ('["java.lang.Long",5000000000]', 5000000000),
        ('["java.lang.Integer",5]', 5),
        ('["java.lang.String","x"]', "x"),
        ('["java.lang.Boolean",true]', True),
        ('["java.lang.Double",5]', 5.0),
        ('["java.lang.Double",1' + "0" * 400 + "]", float("inf")),
        ('["java.lang.Float",1e60]', Float(float("inf"))),
        ('["java.lang.Float",-1e60]', Float(float("-inf"))),
        ('["java.math.BigDecimal",1E+400]', Decimal("1E+400")),
        ('["java.math.BigDecimal",-0.0]', Decimal("0.0")),
        ('["java.math.BigDecimal",7]', Decimal("7")),
        ("1E999", float("inf")),
        ("-0", 0),
        ('"\\ud83d\\ude00\\/"', "\U0001f600/"),
    ],
)
def test_what_java_reads_is_read(text: str, value: Any) -> None:
    assert same(codec.decode(text.encode()), value)


class Colour(enum.Enum):
    RED = "red"


class Tag(str, enum.Enum):
    NEW = "new"


@pytest.mark.parametrize(
    ("value", "path", "text"),
    [
        (object(), "$", "object has no Java type"),
        (Colour.RED, "$", "Colour has no Java type"),
        ([Tag.NEW], "$[0]", "Tag has no Java type"),
        ({"a": [1, {"sku": 1j}]}, "$['a'][1]['sku']", "complex"),
        ({1: "a"}, "$[1]", "a key of type int: keys are str"),
        ([{None: "a"}], "$[0][None]", "a key of type NoneType"),
        ({10**5000: 1}, "$[<int>]", "a key of type int"),
        ({Tag.NEW: 1}, "$[<Tag.NEW: 'new'>]", "Tag"),
        (Decimal("sNaN"), "$", "sNaN"),
        ([10**1000], "$[0]", "1000 digits"),
        ([-(10**5000)], "$[0]", "1000 digits"),
        (Decimal("1E+1000"), "$", "1000 digits"),
        (Decimal("1E-1000"), "$", "1000 digits"),
        (Decimal("1E+999999999"), "$", "1000 digits"),
        (Decimal("9" * 1001), "$", "1000 digits"),
    ],
)
def test_a_value_without_a_java_type_is_refused(value: Any, path: str, text: str) -> None:
    with pytest.raises(EncodeError, match="JsonJacksonCodec") as caught:
        codec.encode(value)
    assert (caught.value.path, caught.value.codec) == (path, "JsonJacksonCodec")
    assert text in str(caught.value)
    assert caught.value.__cause__ is not None


@pytest.mark.parametrize("number", [10**1000 - 1, -(10**1000 - 1), Decimal("0." + "9" * 999), Decimal("9E+999")])
def test_the_longest_numbers_jackson_reads(number: Any) -> None:
    assert codec.decode(codec.encode(number)) == number
    assert codec.decode(codec.encode([number])) == [number]


@pytest.mark.parametrize(
    ("text", "message", "offset"),
    [
        ("", "not JSON", 0),
        ("nul", "not JSON", 0),
        ("5 6", "Extra data", 2),
        ('"\u00e9\u20ac" x', "Extra data", 8),
        ('"\n"', "Invalid control character", 1),
        ('"abc', "Unterminated string", 0),
        ("NaN", "NaN is not a JSON number", 0),
        ('["java.util.ArrayList",[-Infinity]]', "-Infinity is not a JSON number", 24),
        ("\ufeff5", "not JSON", 0),
        ("[]", "an array without the name", 0),
        ("[1,2]", "an array without the name", 0),
        ('["a","b","c"]', "an array without the name", 0),
        ('["java.util.ArrayList"]', "an array without the name", 0),
        ("{}", "an object without @class", 0),
        ('{"a":1}', "an object without @class", 0),
        ('{"@class":5}', "an object without @class", 0),
        (
            '["java.util.ArrayList",[1,{"a":2}]]',
            "an object without @class (Java could not read it either) (offset 0, at $[1])",
            0,
        ),
        ('{"@class":"com.acme.Absent","id":1}', "Java class com.acme.Absent is not declared", 11),
        ('["com.acme.Colour","RED"]', "Java class com.acme.Colour is not declared", 2),
        ('["java.util.ArrayList",[1,{"@class":"com.acme.Absent"}]]', "at $[1]", 37),
        ('{"@class":"java.util.HashMap","o":["java.util.ArrayList",[["com.acme.A",1]]]}', "at $['o'][0]", 60),
        ('{"@class":"java.util.ArrayList"}', "not a java.util.ArrayList", 11),
        ('["java.util.HashMap",[1]]', "not a java.util.HashMap", 2),
        ('["java.util.ArrayList",5]', "not a java.util.ArrayList", 2),
        ('["[L[].List;",[1]]', "Java class [L[].List; cannot be read", 2),
        ('["java.util.ArrayList",null]', "not a java.util.ArrayList", 2),
        ('["java.lang.Long","5"]', "not a java.lang.Long", 2),
        ('["java.lang.Long",5.0]', "not a java.lang.Long", 2),
        ('["java.lang.Long",true]', "not a java.lang.Long", 2),
        ('["java.lang.Long",9223372036854775808]', "not a java.lang.Long", 2),
        ('["java.lang.Integer",2147483648]', "not a java.lang.Integer", 2),
        ('["java.lang.Short",70000]', "not a java.lang.Short", 2),
        ('["java.lang.Byte",128]', "not a java.lang.Byte", 2),
        ('["java.lang.Character","ab"]', "not a java.lang.Character", 2),
        ('["java.lang.Character","\\ud83d\\ude00"]', "not a java.lang.Character", 2),
        ('["java.lang.Character",97]', "not a java.lang.Character", 2),
        ('["java.lang.Double","nan"]', "not a java.lang.Double", 2),
        ('["java.lang.Float",[]]', "not a java.lang.Float", 2),
        ('["java.math.BigInteger",1.5]', "not a java.math.BigInteger", 2),
        ('["java.math.BigDecimal","1.5"]', "not a java.math.BigDecimal", 2),
        ('["java.math.BigDecimal",1e99999999999]', "not a java.math.BigDecimal", 2),
        ('["java.math.BigDecimal",1e-9999999999999999999999]', "not a java.math.BigDecimal", 2),
        ('["[B","AQ"]', "not a [B", 2),
        ('["[B","AQ==\u00e9"]', "not a [B", 2),
        ('["[B","A*Q=="]', "not a [B", 2),
        ('["[B",[1]]', "not a [B", 2),
        ("1" * 5000, "a number that cannot be read", 0),
    ],
)
def test_bytes_that_are_no_value(text: str, message: str, offset: int) -> None:
    data = text.encode()
    with pytest.raises(DecodeError, match="JsonJacksonCodec") as caught:
        codec.decode(data)
    error = caught.value
    assert message in str(error)
    assert (error.codec, error.data, error.offset) == ("JsonJacksonCodec", data, offset)
    assert error.__cause__ is not None


def test_bytes_that_are_no_utf8() -> None:
    with pytest.raises(DecodeError, match="not UTF-8") as caught:
        codec.decode(b'"ab\xff"')
    assert caught.value.offset == 3


@pytest.mark.parametrize("kind", ["list", "dict", "mixed"])
def test_nesting_is_bounded_both_ways(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    deepest = nested(200, kind=kind)
    assert codec.decode(codec.encode(deepest)) == deepest
    with pytest.raises(EncodeError, match="nested deeper than 200"):
        codec.encode(nested(201, kind=kind))
    monkeypatch.setattr("redisson_dq.codecs.jackson.writing.containers.MAX_DEPTH", 201)
    with pytest.raises(DecodeError, match="nested deeper than 200"):
        codec.decode(codec.encode(nested(201, kind=kind)))


def test_a_list_inside_itself_is_refused() -> None:
    value: list[Any] = []
    value.append({"self": value})
    with pytest.raises(EncodeError, match="does it contain itself") as caught:
        codec.encode(value)
    assert len(caught.value.path) <= 240


@pytest.mark.parametrize("data", [b"[" * 200_000, b'{"a":' * 200_000, b'["java.util.ArrayList",[' * 100_000])
def test_brackets_without_end_are_an_error_of_the_codec(data: bytes) -> None:
    with pytest.raises(DecodeError):
        codec.decode(data)


def test_an_exhausted_stack_is_an_error_of_the_codec() -> None:
    value = nested(190, kind="list")
    data = codec.encode(value)
    decoded = with_little_stack(100, lambda: caught_from(lambda: codec.decode(data)))
    encoded = with_little_stack(100, lambda: caught_from(lambda: codec.encode(value)))
    assert isinstance(decoded, DecodeError)
    assert isinstance(encoded, EncodeError)
    assert isinstance(encoded.__cause__, RecursionError)


TRACE = (
    '"stackTrace":[{"className":"com.acme.Main","fileName":"Main.java","lineNumber":42,"methodName":"run",'
    '"nativeMethod":false},{"className":"java.lang.Thread","lineNumber":-1,"methodName":"run","nativeMethod":false}],'
    '"suppressed":["[Ljava.lang.Throwable;",[]]}'
)
# Redisson 4's bytes.
FAILURE = (
    '{"@class":"java.lang.IllegalStateException","@id":1,"cause":{"@class":"java.io.IOException","@id":2,'
    f'"localizedMessage":"io","message":"io",{TRACE},"localizedMessage":"x","message":"x",{TRACE}'
)


def test_an_exception() -> None:
    failure = codec.decode(FAILURE.encode())
    assert isinstance(failure, java.Throwable)
    assert (failure.java_name, failure.message, failure.fields) == ("java.lang.IllegalStateException", "x", {})
    assert failure.cause is not None
    assert (failure.cause.java_name, failure.cause.message) == ("java.io.IOException", "io")
    assert failure.stack_trace[0] == java.StackTraceElement("com.acme.Main", "run", "Main.java", 42)
    assert codec.encode(failure).decode() == FAILURE


def test_an_exception_that_is_there_twice() -> None:
    text = FAILURE[:-4] + '[{"@class":"a.E","@id":3,"stackTrace":[],"suppressed":["[Ljava.lang.Throwable;",[]]},3]]}'
    first, second = codec.decode(text.encode()).suppressed
    assert first is second
    with pytest.raises(DecodeError, match="no exception with the @id 9"):
        codec.decode(text.replace(",3]]}", ",9]]}").encode())


@pytest.mark.parametrize("before", ["1", '{"@class":"a.E","stackTrace":[],"message":"x"}'])
def test_what_stands_behind_an_exception_in_a_field_of_another_is_told_as_part_of_that_field(before: str) -> None:
    text = f'{{"@class":"a.E","stackTrace":[],"extra":["java.util.ArrayList",[{before},{{"a":1}}]]}}'
    with pytest.raises(DecodeError, match="the type of that field of an exception is not known here"):
        codec.decode(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        '{"@class":"com.acme.Absent","id":["java.lang.Long",1],"p":{"x":1},"tags":["java.util.ArrayList",["a"]]}',
        '["java.util.ArrayList",[{"@class":"com.acme.Absent"},{"@class":"com.acme.Absent","o":{"@class":"b.C"}}]]',
        '["com.acme.Absent","RED"]',
        '["com.acme.Absent",5000000000]',
        '["java.util.EnumSet<com.acme.Absent>",["RED"]]',
        '{"@class":"java.util.EnumMap<com.acme.Absent,java.lang.Object>","RED":["java.lang.Long",1]}',
        '["com.acme.Absent",[1,5000000000,["java.lang.Long",5000000000],null,[1],{"x":1}]]',
        '{"@class":"com.acme.Absent","color":["com.acme.Absent$Color","RED"],"none":null,"flag":true,"text":"NaN"}',
        '{"@class":"com.acme.Absent","big":5000000000,"boxed":["java.lang.Long",5000000000],"huge":18446744073709551616,'
        '"boxedHuge":["java.math.BigInteger",18446744073709551616],"nan":["java.lang.Double","NaN"],"d":1.0E10}',
        '{"@class":"com.acme.Absent","at":1709209815.120000000,"day":[2024,2,29],"texts":["a","b"],"none":[],'
        '"grid":[[1],[]],"one":["a"],"points":["java.util.ArrayList",[{"x":1},{"y":[2]}]]}',
        '{"@class":"com.acme.Absent","map":{"@class":"java.util.LinkedHashMap","a":[1,2],"b":{"x":1}},'
        '"colors":["java.util.ArrayList",["RED"]],"array":["[Lcom.acme.Absent;",[{"@class":"com.acme.Absent"},null]]}',
    ],
)
def test_objects_of_unknown_classes_are_kept_on_demand(text: str) -> None:
    generic = JsonJacksonCodec(unknown="generic")
    assert generic.encode(generic.decode(text.encode())).decode() == text
    with pytest.raises(DecodeError, match=r'under @java_class\("com.acme.Absent"\), or have it'):
        codec.decode(text.encode())


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (
            '{"@class":"com.acme.Absent","p":{"x":1.5}}',
            java.JavaObject("com.acme.Absent", {"p": java.JavaObject("", {"x": 1.5})}),
        ),
        ('["com.acme.Absent","RED"]', java.JavaObject("com.acme.Absent", "RED")),
        ('["com.acme.Absent",[1,"a"]]', java.JavaObject("com.acme.Absent", [1, "a"])),
    ],
)
def test_the_contents_of_an_unknown_class(text: str, value: java.JavaObject) -> None:
    assert JsonJacksonCodec(unknown="generic").decode(text.encode()) == value


def test_a_number_beyond_32_bits_in_an_unknown_class() -> None:
    # Java's field may be a long, which has no name, or a Long or Number, which has.
    text = '{"@class":"com.acme.Absent","a":5000000000,"b":["java.lang.Long",5000000000]}'
    fields = JsonJacksonCodec(unknown="generic").decode(text.encode()).fields
    assert (type(fields["a"]), type(fields["b"])) == (int, Long)


@pytest.mark.parametrize("text", ["[1,2]", "{}", '["a","b"]', '["com.acme","b","c"]', '["java.lang.Long","x"]'])
def test_what_has_no_name_is_no_value_even_then(text: str) -> None:
    with pytest.raises(DecodeError):
        JsonJacksonCodec(unknown="generic").decode(text.encode())


@pytest.mark.parametrize(("keys", "key"), [(int, 2**31), (java.Long, 2**63), (java.Byte, 128)])
def test_the_keys_of_a_declared_map_fit_their_type(keys: Any, key: int) -> None:
    with pytest.raises(EncodeError, match=r"int cannot be a java\.lang"):
        TypedJsonJacksonCodec(dict[keys, str]).encode({key: "a"})


@pytest.mark.parametrize("codec_type", [MsgPackJacksonCodec, CborJacksonCodec, SmileJacksonCodec, IonJacksonCodec])
@pytest.mark.parametrize(
    "fields",
    [
        {"a": java.JavaObject("", b"\x01"), "b": b"\x01"},
        {"a": java.JavaObject("", float("inf")), "b": float("inf")},
        {"a": java.JavaObject("com.acme.Absent", "RED"), "b": 5_000_000_000, "c": Long(5_000_000_000)},
    ],
)
def test_an_unknown_class_in_the_binary_formats(codec_type: Any, fields: dict[str, Any]) -> None:
    kept = codec_type(unknown="generic")
    value = java.JavaObject("com.acme.Absent", fields)
    data = kept.encode(value)
    assert same(kept.decode(data), value)
    assert kept.encode(kept.decode(data)) == data


def test_unknown_is_one_of_two_words() -> None:
    with pytest.raises(ArgumentError, match="'refuse' or 'generic'"):
        JsonJacksonCodec(unknown="ignore")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (java.IntArray([1, -2]), '["[I",[1,-2]]'),
        (Uri("a:b"), '["java.net.URI","a:b"]'),
        (Color.RED, '["com.acme.Color","RED"]'),
        (Point(1, 2), '{"@class":"com.acme.Point","x":1,"y":2}'),
        (java.ListOf([1]), '["java.util.ImmutableCollections$List12",[1]]'),
        ((1, 2), '["java.util.ArrayList",[1,2]]'),
        (frozenset([1]), '["java.util.HashSet",[1]]'),
        (EnumSet(Color, [Color.BLUE]), '["java.util.EnumSet<com.acme.Color>",["BLUE"]]'),
        (EnumMap(Color, {Color.RED: 1}), '{"@class":"java.util.EnumMap<com.acme.Color,java.lang.Object>","RED":1}'),
    ],
)
def test_a_value_of_a_final_class_carries_its_type_as_the_whole_value_too(value: Any, text: str) -> None:
    assert codec.encode(value).decode() == text
    assert codec.decode(text.encode()) == (value if not isinstance(value, tuple) else list(value))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (datetime.now(timezone.utc), "has no java.time.Instant"),
        (java.Optional("a"), "has no java.util.Optional"),
        (java.BitSet({1}), "does not write what a java.util.BitSet holds"),
        (java.Pattern("a", 2), "without its flags"),
        (EnumSet(Colour), "Colour is not declared"),
        (attrs.make_class("Plain", [])(), "no Java type"),
    ],
)
def test_what_jackson_has_no_form_for(value: Any, text: str) -> None:
    with pytest.raises(EncodeError, match=text):
        codec.encode(value)
