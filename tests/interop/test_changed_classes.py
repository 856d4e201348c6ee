"""A Java class has changed, but its declaration has not. Each codec then reads what docs/declaring-classes.md says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest

from redisson_dq.codecs import (
    CborJacksonCodec,
    Codec,
    JsonJackson3Codec,
    JsonJacksonCodec,
    Kryo5Codec,
    MsgPackJacksonCodec,
    ProtobufCodec,
    SerializationCodec,
    TypedJsonJacksonCodec,
)
from redisson_dq.errors import DecodeError
from redisson_dq.java import Long
from redisson_dq.java.registry import declaration_for
from tests.interop import changed
from tests.peer import VERSIONS, JavaPeer

DOCS = Path(__file__).resolve().parents[2] / "docs" / "declaring-classes.md"

#: By column of the table: the codecs, with what Java makes of them.
COLUMNS: dict[str, list[Callable[[Any], tuple[Codec, Any]]]] = {
    "Kryo5": [lambda _: (Kryo5Codec(), "Kryo5Codec")],
    "Jackson's": [
        *(
            lambda _, codec=codec: (codec, codec.name)
            for codec in (JsonJacksonCodec(), JsonJackson3Codec(), MsgPackJacksonCodec(), CborJacksonCodec())
        ),
        lambda kind: (TypedJsonJacksonCodec(kind), {"name": "TypedJsonJacksonCodec", "class": java_name(kind)}),
    ],
    "Serialization": [lambda _: (SerializationCodec(), "SerializationCodec")],
    "protostuff": [lambda kind: (ProtobufCodec(kind), {"name": "ProtobufCodec", "class": java_name(kind)})],
}
#: By row of the table: the samples of it.
ROWS = {
    "a field is added": ["added"],
    "a field is added behind all others": ["added-at-the-end"],
    "a field is removed": ["removed"],
    "a field is renamed, and sorts elsewhere": ["renamed"],
    "a field is renamed, and sorts where it did": ["renamed-in-place"],
    "a field is renamed, and sorts before another one of its type": ["renamed-past-its-like"],
    "two fields of one type change places in the source": ["moved"],
    "a text becomes a number": ["retyped"],
    "an `int` becomes an `Integer`": ["boxed"],
    "an `int` becomes a `long`": ["widened"],
}
BEFORE = {"count": 7, "first": "Ann", "last": "Lee", "tags": ["a", "b"], "total": Long(9)}


def java_name(kind: type) -> str:
    declaration = declaration_for(kind)
    assert declaration is not None
    return declaration.name


def told() -> dict[str, dict[str, str]]:
    """The table of the docs: by row and column what is said there."""
    lines = DOCS.read_text("utf-8").splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("| in Java |"))
    head, _, *rows = lines[start : start + 2 + len(ROWS)]
    columns = [cell.strip() for cell in head.strip("|").split("|")][1:]
    found = {}
    for row in rows:
        name, *cells = (cell.strip() for cell in row.strip("|").split("|"))
        found[name] = dict(zip(columns, cells, strict=True))
    return found


def read(codec: Codec, data: bytes, sample: str) -> str:
    """The outcome for the value, in the words of the table. An error names the class and what to do."""
    name = java_name(changed.CHANGED[sample])
    try:
        value = codec.decode(data)
    except DecodeError as error:
        text = str(error)
        assert f"declaration of {name} may be out of date" in text
        assert f"`redisson-dq generate-classes your.jar {name}`" in text
        return "error"
    fields = attrs.asdict(value)
    if fields == BEFORE:
        return "read"
    others = {name for name in BEFORE if fields[name] != BEFORE[name]}
    if all(fields[name] is None for name in others):
        return "default"
    return "**wrong values**"


def java_bytes(peer: JavaPeer, codec: Any, sample: str) -> bytes:
    return bytes.fromhex(peer.call("encode_sample", codec=codec, name=f"changed/{sample}"))


def test_the_table_has_all_rows_and_columns() -> None:
    assert list(told()) == list(ROWS)
    assert all(list(row) == list(COLUMNS) for row in told().values())
    samples = [sample for row in ROWS.values() for sample in row]
    assert sorted([*samples, "same"]) == sorted(changed.CHANGED)


@pytest.mark.parametrize("column", COLUMNS)
def test_a_class_that_is_the_same_is_read(peers: Callable[[str], JavaPeer], column: str) -> None:
    for make in COLUMNS[column]:
        codec, java = make(changed.CHANGED["same"])
        assert read(codec, java_bytes(peers(VERSIONS[0]), java, "same"), "same") == "read"


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("row", ROWS)
def test_a_changed_class_is_read_as_the_docs_say(peers: Callable[[str], JavaPeer], row: str, column: str) -> None:
    for sample in ROWS[row]:
        for make in COLUMNS[column]:
            codec, java = make(changed.CHANGED[sample])
            data = java_bytes(peers(VERSIONS[0]), java, sample)
            assert read(codec, data, sample) == told()[row][column], (codec, sample)


@pytest.mark.parametrize("sample", ["inside", "in-list"])
def test_the_innermost_class_and_its_field_are_named(peers: Callable[[str], JavaPeer], sample: str) -> None:
    with pytest.raises(DecodeError) as caught:
        Kryo5Codec().decode(java_bytes(peers(VERSIONS[0]), "Kryo5Codec", sample))
    assert "in the field tags of com.acme.changed.Added: the declaration of com.acme.changed.Added" in str(caught.value)


def test_bytes_that_are_left_over_name_the_classes_that_were_read(peers: Callable[[str], JavaPeer]) -> None:
    with pytest.raises(DecodeError) as caught:
        Kryo5Codec().decode(java_bytes(peers(VERSIONS[0]), "Kryo5Codec", "added-at-the-end"))
    assert "3 bytes too many after the value: the declaration of com.acme.changed.AddedAtTheEnd" in str(caught.value)
