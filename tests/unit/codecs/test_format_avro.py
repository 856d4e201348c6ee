"""Avro: Java's bytes by several schemas, allowed schemas, and refusals."""

from __future__ import annotations

import json
import random
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redisson_dq import java
from redisson_dq.codecs.faults import Malformed, Unencodable
from redisson_dq.codecs.jackson.avro import Avro
from redisson_dq.codecs.jackson.node import MAX_NODE_DEPTH, Object
from redisson_dq.errors import ArgumentError
from tests.unit.codecs.format_nodes import mutations, node_or_fault, same_node, texts
from tests.vector_files import all_rows
from tests.versions import REDISSONS


def record(name: str, **fields: Any) -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": [{"name": key, "type": of} for key, of in fields.items()]}


def avro_of(schema: Any) -> Avro:
    return Avro(json.dumps(schema))


def node(**pairs: Any) -> Object:
    return Object(pairs.items())


ALL = record(
    "All",
    i="int",
    l="long",
    f="float",
    d="double",
    z="boolean",
    s="string",
    b="bytes",
    sh="int",
    by="int",
    c="int",
    e={"type": "enum", "name": "Color", "symbols": ["RED", "GREEN"]},
    fx={"type": "fixed", "name": "F4", "size": 4},
    cs={"type": "array", "items": "int"},
    big="string",
    dec="string",
    decd="double",
)
NEST = {
    **record(
        "Nest",
        v="int",
        next=["null", "Nest"],
        kids={"type": "array", "items": "x.y.Nest"},
        m={"type": "map", "values": "int"},
        names=[{"type": "array", "items": ["string", "null"]}, "null"],
    ),
    "namespace": "x.y",
}
ANY = record(
    "Any",
    a=[
        *("null", "int", "long", "string", "double", "float", "boolean", "bytes"),
        {"type": "array", "items": "int"},
        {"type": "map", "values": "string"},
    ],
)
BYTES_DECIMAL = {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}
FIXED_DECIMAL = {"type": "fixed", "name": "D8", "size": 8, "logicalType": "decimal", "precision": 12, "scale": 3}
DECIMALS = record("Dec", a=BYTES_DECIMAL, b=FIXED_DECIMAL, c=["null", "string", BYTES_DECIMAL])


def nest(v: int, **others: Any) -> Object:
    return node(v=v, next=others.get("next"), kids=others.get("kids", []), m=others.get("m", Object()), names=None)


def decimals(*numbers: str | None) -> Object:
    return node(**{name: Decimal(text) for name, text in zip("abc", numbers, strict=True) if text is not None})


#: Written by Redisson 4 (Jackson 2.21.2), by AvroJacksonCodec(type, schema).
JAVA: list[tuple[Any, Any, str]] = [
    (
        ALL,
        node(
            i=-5, l=java.Long(5000000000), f=java.Float(1.5), d=-0.1, z=True, s="a\u00e9\U0001f600", b=b"\x01\x02\xff",
            sh=java.Short(300), by=java.Byte(-3), c="\u20ac", e="GREEN", fx=b"\x09\x08\x07\x06", cs="a\u20ac",
            big=java.BigInteger(123456789012345678901234567890), dec=Decimal("1.20E+5"), decd=Decimal("1.25"),
        ),
        "0980c8afa0250000c03f9a9999999999b9bf010e61c3a9f09f9880060102ffd80405d88201020908070604c201d88201003c31323334"
        "35363738393031323334353637383930313233343536373839300e312e3230452b35000000000000f43f",
    ),
    (
        NEST,
        node(
            v=1,
            next=nest(2),
            kids=[nest(3), nest(-4)],
            m=Object((*((f"key{i}", i) for i in range(30)), ("\u00e9\U0001f600", 7), ("", 8))),
            names=["a", None, "b"],
        ),
        "0202040000000204060000000207000000020040086b657931020010086b65793204086b65793000086b6579350a086b6579360c086b"
        "65793306086b65793408086b65793912086b6579370e086b657938100a6b657932322c0a6b657932312a0a6b65793230280a6b657931"
        "351e0a6b657931341c0a6b657931331a0cc3a9f09f98800e0a6b65793132180a6b65793139260a6b65793138240a6b65793137220a6b"
        "65793136200a6b65793131160a6b65793130140a6b65793236340a6b65793235320a6b65793234300a6b657932332e0a6b657932393a"
        "0a6b65793238380a6b65793237360000060002610200026200",
    ),
    (ANY, node(a=None), "00"),
    (ANY, node(a=5), "020a"),
    (ANY, node(a=java.Long(5)), "040a"),
    (ANY, node(a=java.Long(5000000000)), "0480c8afa025"),
    (ANY, node(a="x"), "060278"),
    (ANY, node(a=1.5), "08000000000000f83f"),
    (ANY, node(a=java.Float(1.5)), "0a0000c03f"),
    (ANY, node(a=True), "0c01"),
    (ANY, node(a=b"\x01"), "0e0201"),
    (ANY, node(a=[1, 2]), "1004020400"),
    (ANY, node(a=node(k="v")), "1202026b027600"),
    (ANY, node(a=Decimal("1.5")), "08000000000000f83f"),
    (ANY, node(a=java.BigInteger(1)), "060231"),
    (ANY, node(a=java.Short(3)), "0206"),
    (ANY, node(a=Object()), "1200"),
    (DECIMALS, decimals("1.25", "1.125", "1.5"), "027d00000000000004650206312e35"),
    (DECIMALS, decimals("-1.25", "-1.125", None), "0283fffffffffffffb9b00"),
    (DECIMALS, decimals("1.2", "1E+3", "1E+3"), "027800000000000f4240020831452b33"),
    (DECIMALS, decimals("0", "0", "0E-10"), "02000000000000000000020a30452d3130"),
    (DECIMALS, decimals("1.250", "1.1250", None), "027d000000000000046500"),
    (DECIMALS, decimals("99999999.99", "1", None), "0a02540be3ff00000000000003e800"),
    ("int", 7, "0e"),
    ("string", "hi", "046869"),
    ({"type": "array", "items": "string"}, ["a", "b"], "040261026200"),
    ({"type": "map", "values": "long"}, node(a=java.Long(1)), "0202610200"),
    (["null", ANY], None, "00"),
    (["null", ANY], node(a=5), "02020a"),
    (record("Any", a=["null", "int"], zz=["int", "null"]), node(a=5), "020a02"),
    ("long", java.Long(1700000000123), "f6a1abfef962"),
    ("double", float("nan"), "000000000000f87f"),
    ("float", java.Float(float("nan")), "0000c07f"),
    ("float", 0.1, "cdcccc3d"),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "written", "java_hex"), JAVA)
def test_java_s_bytes(schema: Any, written: Any, java_hex: str) -> None:
    avro = avro_of(schema)
    assert avro.dumps(written).hex() == java_hex
    # What is read says no more than the schema does: of a Long in a union an int is left.
    read = avro.loads(bytes.fromhex(java_hex))
    assert same_node(avro.loads(avro.dumps(read)), read)
    assert avro.dumps(read).hex() == java_hex or java_hex == "040a"


def test_what_java_wrote_of_its_classes() -> None:
    versions = set()
    for row in all_rows("types"):
        if row["codec"] == "AvroJacksonCodec" and "hex" in row:
            avro = Avro(row["spec"]["schema"])
            assert avro.dumps(avro.loads(bytes.fromhex(row["hex"]))).hex() == row["hex"]
            versions.add(row["redisson"])
    assert versions == {*REDISSONS}


def test_what_is_read() -> None:
    read = avro_of(ALL).loads(bytes.fromhex(JAVA[0][2]))
    assert same_node(
        read,
        node(
            i=-5, l=5000000000, f=java.Float(1.5), d=-0.1, z=True, s="a\u00e9\U0001f600", b=b"\x01\x02\xff", sh=300,
            by=-3, c=0x20AC, e="GREEN", fx=b"\x09\x08\x07\x06", cs=[97, 0x20AC], big="123456789012345678901234567890",
            dec="1.20E+5", decd=1.25,
        ),
    )  # fmt: skip
    read = avro_of(DECIMALS).loads(bytes.fromhex("027800000000000f4240020831452b33"))
    assert same_node(read, node(a=Decimal("1.20"), b=Decimal("1000.000"), c="1E+3"))


TREE = record(
    "Tree",
    key="string",
    number=["null", "long", "double", "bytes"],
    parts={"type": "array", "items": ["string", "Tree"]},
    named={"type": "map", "values": ["null", "Tree"]},
)
trees: st.SearchStrategy[Object] = st.deferred(
    lambda: st.builds(
        lambda key, number, parts, named: node(key=key, number=number, parts=parts, named=Object(named.items())),
        texts,
        st.none() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.binary(),
        st.lists(texts | trees, max_size=2),
        st.dictionaries(texts, st.none() | trees, max_size=1),
    )
)


@settings(max_examples=150, deadline=None, derandomize=True, database=None)
@given(trees)
def test_a_node_that_was_written_is_read(tree: Object) -> None:
    avro = avro_of(TREE)
    assert same_node(avro.loads(avro.dumps(tree)), tree)


@pytest.mark.parametrize(
    ("schema", "written", "message", "path"),
    [
        (ALL, node(nothing=1), "the schema has no such field", "$['nothing']"),
        (record("A", a="int"), Object(), "NoneType does not fit the schema's int", "$['a']"),
        (record("A", a="int"), node(a=2**31), "does not fit the schema's int", "$['a']"),
        (record("A", a="int"), node(a=1.0), "does not fit", "$['a']"),
        (record("A", a="int"), node(a=True), "does not fit", "$['a']"),
        (record("A", a="int"), [1], "list does not fit the schema's record", "$"),
        ("int", "ab", "does not fit", "$"),
        ("long", 2**63, "does not fit", "$"),
        ("float", 1e39, "does not fit", "$"),
        ("double", 10**400, "does not fit", "$"),
        ("double", Decimal("NaN"), "does not fit", "$"),
        ("double", Decimal("sNaN"), "does not fit", "$"),
        ("boolean", 1, "does not fit", "$"),
        ("string", 5, "does not fit", "$"),
        ("string", b"a", "does not fit", "$"),
        ("string", "a\ud800", "U+D800 alone", "$"),
        ("bytes", "a", "does not fit", "$"),
        ({"type": "fixed", "name": "F", "size": 2}, b"a", "does not fit", "$"),
        ({"type": "enum", "name": "E", "symbols": ["A"]}, "B", "does not fit the schema's enum", "$"),
        ({"type": "array", "items": "string"}, ["a", 1], "does not fit", "$[1]"),
        ({"type": "map", "values": "int"}, node(a=1, b="bb"), "does not fit", "$['b']"),
        ({"type": "map", "values": "int"}, [], "does not fit", "$"),
        (["null", "int"], "ab", "does not fit", "$"),
        (["string", "int"], None, "0 types of the schema's union (string, int) take this value", "$"),
        (["null", "string", "boolean"], 5, "0 types", "$"),
        (["null", record("A", a="int"), record("B", a="int")], node(a=1), "2 types", "$"),
        (["null", record("A", a="int"), {"type": "map", "values": "int"}], node(a=1), "2 types", "$"),
        (BYTES_DECIMAL, Decimal("1.255"), "does not fit the schema's decimal", "$"),
        (BYTES_DECIMAL, Decimal("100000000"), "does not fit", "$"),
        (BYTES_DECIMAL, Decimal("1E+100"), "does not fit", "$"),
        (BYTES_DECIMAL, Decimal("1E+999999999"), "does not fit", "$"),
        (BYTES_DECIMAL, Decimal("1E-999999999"), "does not fit", "$"),
        (BYTES_DECIMAL, Decimal("NaN"), "cannot hold NaN", "$"),
        (BYTES_DECIMAL, b"\x01", "does not fit", "$"),
        ({**FIXED_DECIMAL, "size": 2}, Decimal("100"), "does not fit the schema's fixed", "$"),
    ],
)
def test_nodes_that_do_not_fit(schema: Any, written: Any, message: str, path: str) -> None:
    with pytest.raises(Unencodable) as caught:
        avro_of(schema).dumps(written)
    assert message in caught.value.message
    assert caught.value.path == path


def test_the_record_of_a_union_that_fits() -> None:
    avro = avro_of([record("A", a="int"), record("B", b="int", c=["null", "int"])])
    assert avro.dumps(node(a=1)).hex() == "0002"
    assert avro.dumps(node(b=1)).hex() == "020200"
    assert avro.dumps(node(b=1, c=2)).hex() == "02020204"


@pytest.mark.parametrize(
    ("schema", "data", "message", "offset"),
    [
        ("int", "", "the bytes end in the middle", 0),
        ("int", "80808080 10", "more than 32 bits", 0),
        ("int", "ff" * 10, "more than 64 bits", 0),
        ("long", "80" * 9 + "02", "more than 64 bits", 0),
        ("int", "0202", "1 bytes too many", 1),
        ("boolean", "02", "0x02 is not a boolean", 0),
        ("string", "0461", "2 are announced, 1 bytes are there", 0),
        ("string", "01", "-1 are announced", 0),
        ("string", "04c328", "not UTF-8", 1),
        ("bytes", "feffffff0f", "2147483647 are announced, 0 bytes are there", 0),
        ("double", "00", "the bytes end in the middle", 1),
        ({"type": "fixed", "name": "F", "size": 1000000}, "00", "1000000 bytes are announced", 0),
        ({"type": "enum", "name": "E", "symbols": ["A"]}, "02", "symbol 1 of an enum that has 1", 0),
        ({"type": "enum", "name": "E", "symbols": ["A"]}, "01", "symbol -1", 0),
        (["null", "int"], "04", "type 2 of a union that has 2", 0),
        (["null", "int"], "01", "type -1", 0),
        ({"type": "array", "items": "int"}, "feffffffffffffffff01", "are announced, 0 bytes are there", 0),
        ({"type": "array", "items": "int"}, "01020200", "-1 are announced", 0),
        ({"type": "array", "items": ["null"]}, "feffffff0f" + "00" * 20, "2147483647 are announced", 0),
        ({"type": "map", "values": "null"}, "feffffff0f", "2147483647 are announced", 0),
        (BYTES_DECIMAL, "d20f" + "00" * 1001, "more than 1000 bytes", 0),
    ],
)
def test_bytes_that_are_no_node(schema: Any, data: str, message: str, offset: int) -> None:
    with pytest.raises(Malformed) as caught:
        avro_of(schema).loads(bytes.fromhex(data))
    assert message in caught.value.message
    assert caught.value.offset == offset


def test_bytes_cut_off_and_changed() -> None:
    chance = random.Random(20261121)
    read = malformed = 0
    for schema, _written, java_hex in JAVA:
        avro, data = avro_of(schema), bytes.fromhex(java_hex)
        for end in range(len(data)):
            assert isinstance(node_or_fault(avro.loads, data[:end]), Malformed)
        for changed in mutations(data, 100, chance):
            found = node_or_fault(avro.loads, changed)
            read += not isinstance(found, Malformed)
            malformed += isinstance(found, Malformed)
    assert read > 100
    assert malformed > 1000


def test_depth_is_bounded() -> None:
    avro = avro_of(record("R", next=["null", "R"]))
    # One R in the other, and a null in the last.
    avro.loads(b"\x02" * (MAX_NODE_DEPTH - 1) + b"\x00")
    with pytest.raises(Malformed, match="nested deeper"):
        avro.loads(b"\x02" * MAX_NODE_DEPTH + b"\x00")
    with pytest.raises(Malformed, match="nested deeper"):
        avro.loads(b"\x02" * 100_000)


def test_names_of_types() -> None:
    fixed = {"type": "fixed", "name": "F", "size": 1}
    inner = {"type": "record", "name": "In", "namespace": "q", "fields": [{"name": "f", "type": fixed}]}
    avro = avro_of({"type": "record", "name": "p.Out", "fields": [
        {"name": "a", "type": {**fixed, "size": 2}},
        {"name": "b", "type": inner},
        {"name": "c", "type": "F"},
        {"name": "d", "type": "q.F"},
        {"name": "e", "type": {"type": "p.F"}},
    ]})  # fmt: skip
    written = node(a=b"aa", b=node(f=b"b"), c=b"cc", d=b"d", e=b"ee")
    assert avro.dumps(written) == b"aabccdee"
    assert same_node(avro.loads(b"aabccdee"), written)


def test_a_schema_that_is_parsed_already() -> None:
    assert Avro(ALL).loads(bytes.fromhex(JAVA[0][2])) == avro_of(ALL).loads(bytes.fromhex(JAVA[0][2]))


@pytest.mark.parametrize(
    "schema",
    [
        "{",
        "5",
        '"nothing"',
        "{}",
        '{"type":5}',
        '{"type":{"type":"int"}}',
        '{"type":"record","name":"A"}',
        '{"type":"record","fields":[]}',
        '{"type":"record","name":"A","fields":[5]}',
        '{"type":"record","name":"A","fields":[{"name":"a"}]}',
        '{"type":"record","name":"A","namespace":5,"fields":[]}',
        '{"type":"record","name":"A","fields":[{"name":"a","type":"A"}]}, ',
        '[{"type":"fixed","name":"A","size":1},{"type":"fixed","name":"A","size":1}]',
        '{"type":"fixed","name":"int","size":1}',
        '{"type":"fixed","name":"A","size":-1}',
        '{"type":"enum","name":"A"}',
        '{"type":"enum","name":"A","symbols":[1]}',
        '{"type":"array"}',
        '{"type":"map"}',
        '{"type":"bytes","logicalType":"decimal"}',
        '{"type":"bytes","logicalType":"decimal","precision":2,"scale":3}',
        '{"type":"bytes","logicalType":"decimal","precision":1000000000}',
        '{"type":"array","items":"null"}',
        '{"type":"array","items":{"type":"fixed","name":"A","size":0}}',
        '{"type":"array","items":{"type":"record","name":"A","fields":[{"name":"n","type":"null"}]}}',
        '{"type":"array","items":{"type":"record","name":"A","fields":[{"name":"a","type":"A"}]}}',
        "[" * 100_000,
    ],
)
def test_what_is_no_schema(schema: str) -> None:
    with pytest.raises(ArgumentError):
        Avro(schema)
