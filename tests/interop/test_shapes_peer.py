"""Wildcards, subclasses of collections, maps of enums, arrays of type variables: declarations and bytes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from redisson_dq import java
from redisson_dq.cli import main
from redisson_dq.codecs import (
    Kryo5Codec,
    SerializationCodec,
    TypedJsonJacksonCodec,
)
from redisson_dq.codecs.marks import has_no_room, other_bytes
from redisson_dq.errors import DecodeError, EncodeError
from tests.conftest import environment
from tests.interop.rig import CODECS, Rig, module_of

#: Python names the class of what stands in an EnumMap there, where Java needs no name in the binary formats alone.
NAMED = {("EnumMaps", "bytes", "CborJacksonCodec"), ("EnumMaps", "bytes", "IonJacksonCodec")}


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    with closing(Rig(tmp_path_factory.mktemp("shapes"))) as made:
        _generate(made)
        yield made


def _generate(made: Rig) -> None:
    module = made.classes / "generated_shapes.py"
    assert main(["generate-classes", str(made.classes), "shapes.*", "-o", str(module)]) == 0
    text = module.read_text(encoding="utf-8")
    assert text.count("texts=...") == 2
    loud = text.index('"shapes.Extended$Loud"')
    text = text[:loud] + text[loud:].replace("texts=...", 'texts={"LOW": "low", "HIGH": "high!"}', 1)
    module.write_text(text, encoding="utf-8")
    # Made anew, it has the texts that somebody gave.
    assert main(["generate-classes", str(made.classes), "shapes.*", "-o", str(module)]) == 0
    again = module.read_text(encoding="utf-8")
    assert again.count("texts=...") == 1
    assert 'texts={"LOW": "low", "HIGH": "high!"}' in again
    module_of(module)


@pytest.mark.parametrize("name", ["Bounds", "EnumMaps", "Extended", "Faces", "Kinds", "Unhashable"])
def test_python_reads_and_writes_as_java_does(rig: Rig, name: str) -> None:
    written, texts, same = rig.samples(f"shapes.{name}")
    sent: list[tuple[str, str, bytes]] = []
    other = []
    for (sample, codec), data in written.items():
        # What Java's JSON 3 loses of the values of an EnumMap, their declared type tells Python.
        if (sample, codec) not in same and not (name == "EnumMaps" and codec == "JsonJackson3Codec"):
            continue
        value = CODECS[codec].decode(data)
        for each, target in CODECS.items():
            if (sample, each) not in same:
                continue
            again = target.encode(value)
            sent.append((sample, each, again))
            if (
                each == codec
                and again != data
                and not (other_bytes(value) or has_no_room(value))
                and (name, sample, codec) not in NAMED
            ):
                other.append((sample, codec))
    assert other == []
    assert len(sent) > 80
    read = rig.texts([(codec, data) for _, codec, data in sent])
    assert [row[:2] for row, text in zip(sent, read, strict=True) if text != texts[row[0]]] == []


def test_a_field_of_an_interface_takes_what_implements_it(rig: Rig) -> None:
    """Java puts any object into such a field, and fails when it calls what the interface has."""
    made: Any = sys.modules["generated_shapes"]
    disc, square, stranger = made.Disc(2.0), made.Square(side=2.0), made.Stranger(2.0)
    right: dict[str, tuple[Any, str]] = {
        "face": (square, "4.0"),
        "round": (disc, "0"),
        "base": (square, "4.0"),
        "sealed": (made.Leaf(5), "6"),
        "comparable": (disc, "1"),
        "callable": (made.Leaf(5), "6"),
        "operator": (square, "s2.0"),
        "number": (java.Long(5), "5"),
        "list_": ([made.Unit.FOOT], "0.1"),
        "map": ({"a": disc}, "12.0"),
        "array": (java.Array("shapes.Faces$Face", [disc]), "12.0"),
        "byUnit": ({made.Unit.FOOT: square}, "4.0"),
    }
    wrong: list[tuple[str, Any]] = [
        *((field, stranger) for field in right if field not in ("list_", "map", "array", "byUnit")),
        *(("round", made.Unit.FOOT), ("round", square), ("base", disc), ("operator", disc), ("number", square)),
        *(("list_", [disc, stranger]), ("map", {"a": stranger}), ("byUnit", {made.Unit.FOOT: stranger})),
        *(("face", made.Names(["a"])), ("face", "text"), ("face", [disc]), ("callable", made.Twig([]))),
        ("list_", made.Leaves([made.Leaf(5)])),
    ]
    codecs = {name: codec for name, codec in CODECS.items() if name != "IonJacksonCodec"}
    sent = [
        (name, codec.encode(made.Faces(**{field: value})))
        for field, (value, _) in right.items()
        for name, codec in codecs.items()
    ]
    assert rig.texts(sent, "use") == [use for _, use in right.values() for _ in codecs]
    for field, value in wrong:
        for codec in (*codecs.values(), TypedJsonJacksonCodec(made.Faces)):
            with pytest.raises(EncodeError, match=r"cannot be a (shapes|java)\."):
                codec.encode(made.Faces(**{field: value}))


def test_what_java_cannot_serialize_is_an_error(rig: Rig) -> None:
    made: Any = sys.modules["generated_shapes"]
    for value, reason in (made.Plain(1), "is not Serializable in Java"), (made.Own(1), "is Externalizable: only its"):
        assert Kryo5Codec().decode(Kryo5Codec().encode([value])) == [value]
        with pytest.raises(EncodeError, match=reason):
            SerializationCodec().encode([value])
    # What its readResolve() makes of it in Java may be of any class.
    SerializationCodec().encode(made.Faces(face=made.Stand(1)))


def test_a_constant_whose_text_is_not_known_is_an_error_in_jackson_3(rig: Rig) -> None:
    made: Any = sys.modules["generated_shapes"]
    value = made.Extended(mute=made.Mute.ON)
    for name, codec in CODECS.items():
        if name == "JsonJackson3Codec":
            with pytest.raises(EncodeError, match=r"Mute has a toString\(\) of its own, .* texts=\{\"ON\": \.\.\.\}"):
                codec.encode(value)
            with pytest.raises(DecodeError, match="Mute has a toString"):
                codec.decode(b'{"@class":"shapes.Extended","mute":["shapes.Extended$Mute","on"]}')
        else:
            assert codec.decode(codec.encode(value)) == value


@pytest.mark.parametrize("codec", ["Kryo5Codec", "JsonJacksonCodec"])
def test_a_field_that_java_leaves_out_is_an_error(rig: Rig, codec: str) -> None:
    written, _, same = rig.samples("shapes.Extended")
    value = CODECS["SerializationCodec"].decode(written["owned", "SerializationCodec"])
    assert (value.owner, value.count_, value.items) == ("me", 7, [1])
    assert ("owned", codec) not in same
    with pytest.raises(EncodeError, match=r"shapes.Extended\$Owned.owner is not written: of a collection this codec"):
        CODECS[codec].encode(value)


def test_type_arguments_that_kryo_takes_for_those_of_the_map_are_an_error(rig: Rig) -> None:
    written, _, same = rig.samples("shapes.Extended")
    assert ("f-kv", "Kryo5Codec") not in written
    value = CODECS["SerializationCodec"].decode(written["f-kv", "SerializationCodec"])
    with pytest.raises(
        EncodeError, match=r"a shapes.Extended\$KV where its type arguments are declared, which are not"
    ):
        Kryo5Codec().encode(value)
    assert ("map-kv", "Kryo5Codec") in same


# Reads lines of a codec and bytes in hex, and prints the bytes that the models of pydantic give.
MODELS = """
import json, sys
import models
from redisson_dq.codecs import JsonJacksonCodec, Kryo5Codec, SerializationCodec

codecs = {codec.name: codec for codec in (Kryo5Codec(), SerializationCodec(), JsonJacksonCodec(java_time="numbers"))}


def unordered(node):
    # Two equal sets may have two orders.
    if isinstance(node, dict):
        return {key: unordered(item) for key, item in node.items()}
    return sorted(map(unordered, node), key=json.dumps) if isinstance(node, list) else node


for line in sys.stdin:
    name, data = line.split()
    value = codecs[name].decode(bytes.fromhex(data))
    assert isinstance(value, models.Unhashable), value
    from_json = models.Unhashable.model_validate_json(value.model_dump_json())
    assert unordered(json.loads(from_json.model_dump_json())) == unordered(json.loads(value.model_dump_json()))
    codecs[name].encode(from_json)
    print(codecs[name].encode(value).hex())
models.Unhashable.model_json_schema()
"""


def test_models_hold_what_has_no_hash(rig: Rig, tmp_path: Path) -> None:
    written, texts, same = rig.samples("shapes.Unhashable")
    module = tmp_path / "models.py"
    assert main(["generate-classes", str(rig.classes), "shapes.Unhashable", "--pydantic", "-o", str(module)]) == 0
    names = {"Kryo5Codec", "SerializationCodec", "JsonJacksonCodec"}
    rows = [(sample, codec, data) for (sample, codec), data in written.items() if codec in names]
    rows = [row for row in rows if row[:2] in same]
    assert len(rows) > 40
    ran = subprocess.run(
        [sys.executable, "-c", MODELS],
        input="".join(f"{codec} {data.hex()}\n" for _, codec, data in rows),
        capture_output=True,
        encoding="utf-8",
        env={**environment(), "PYTHONPATH": os.pathsep.join((str(tmp_path), environment()["PYTHONPATH"]))},
    )
    assert ran.returncode == 0, ran.stderr
    again = [(codec, bytes.fromhex(line)) for (_, codec, _), line in zip(rows, ran.stdout.splitlines(), strict=True)]
    assert [
        (row[:2], text, texts[row[0]])
        for row, text in zip(rows, rig.texts(again), strict=True)
        if text != texts[row[0]]
    ] == []


# -- fields of arrays of type variables in Kryo ----------------------------------------------------------------------

#: What Java cannot write, or reads as something else.
REFUSED_ARRAYS = {"hStrings", "hEmpty", "hNumbers", "hList", "hDeep", "hMap", "hCubes", "hListOf"}


def test_java_reads_each_array_that_python_writes(rig: Rig) -> None:
    module = rig.classes / "generated_cells.py"
    assert main(["generate-classes", str(rig.classes), "cells.CellsOf$*", "-o", str(module)]) == 0
    module_of(module)
    written, texts, read_back = rig.samples("cells.CellsOf")
    kryo, serialization = CODECS["Kryo5Codec"], CODECS["SerializationCodec"]
    assert {name for name in texts if (name, kryo.name) not in read_back} == REFUSED_ARRAYS
    sent = []
    for name in texts:
        value = serialization.decode(written[name, serialization.name])
        data = written.get((name, kryo.name))
        if data is not None:
            assert serialization.encode(kryo.decode(data)) == serialization.encode(value)
        if name in REFUSED_ARRAYS:
            with pytest.raises(EncodeError, match=r"whose declaration names a type variable: Java's Kryo reads it as"):
                kryo.encode(value)
        else:
            assert kryo.encode(value) == data
            sent.append((name, kryo.encode(value)))
    assert rig.texts([(kryo.name, data) for _name, data in sent]) == [texts[name] for name, _data in sent]
    assert len(sent) > 10
