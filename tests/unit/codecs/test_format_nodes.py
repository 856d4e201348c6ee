"""Every format of Jackson: what Java wrote is read and written again; round trips; broken bytes; limits."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redisson_dq.codecs.faults import MAX_DEPTH, TOO_DEEP, Malformed, Unencodable
from redisson_dq.codecs.jackson import ion, json
from redisson_dq.codecs.jackson.node import MAX_NODE_DEPTH, Object, Typed
from tests.conftest import as_many
from tests.unit.codecs.format_nodes import (
    FORMATS,
    MODULES,
    as_read,
    mutations,
    named,
    nested,
    node_or_fault,
    nodes,
    refusal,
    same_node,
)
from tests.unit.codecs.golden_rows import with_little_stack
from tests.unit.codecs.vectors import Vector, vectors
from tests.versions import NEWEST, OLDEST

bounded = settings(max_examples=as_many(80, 250), deadline=None, derandomize=True, database=None)
every_format = pytest.mark.parametrize("format_name", sorted(MODULES))


def java_wrote(codec: str) -> list[Vector]:
    found = [vector for vector in vectors(codec) if vector.data is not None]
    assert len(found) > 850
    assert {vector.redisson for vector in found} >= {NEWEST, OLDEST}
    return found


def written_otherwise(vector: Vector) -> bool:
    """Whether this Redisson's Jackson writes it as no later one does, or its bytes do not tell what was written."""
    if vector.codec == "CborJacksonCodec":
        # Numbers as names come back as texts.
        return vector.name.startswith("keys/") or vector.name == "object/collected"
    if vector.redisson.startswith("4."):
        return False
    if vector.codec == "SmileJacksonCodec":  # a negative Float's sign fills its first byte
        return vector.name in ("float/-0.0", "float/-Infinity", "array/float")
    return vector.codec == "IonJacksonCodec"  # E instead of e


@pytest.mark.parametrize("codec", sorted(FORMATS))
def test_what_java_wrote_is_read_and_written_again(codec: str) -> None:
    module = FORMATS[codec]
    otherwise = 0
    for vector in java_wrote(codec):
        assert vector.data is not None
        node = module.loads(vector.data)
        data = module.dumps(node if module is ion else named(node))
        if data != vector.data:
            assert written_otherwise(vector), vector
            assert data.lower() == vector.data.lower() or codec != "IonJacksonCodec", vector
            otherwise += 1
    assert otherwise < 40


@every_format
def test_a_node_that_was_written_is_read(format_name: str) -> None:
    module = MODULES[format_name]

    @bounded
    @given(nodes(module))
    def check(node: Any) -> None:
        assert same_node(module.loads(module.dumps(node)), as_read(node, module))

    check()


@every_format
@bounded
@given(data=st.binary(max_size=60))
def test_any_bytes_are_a_node_or_malformed(format_name: str, data: bytes) -> None:
    loads = MODULES[format_name].loads
    node_or_fault(loads, data)
    node_or_fault(loads, b":)\n\x01" + data)


@every_format
def test_java_s_bytes_cut_off_anywhere(format_name: str) -> None:
    codec, module = next(item for item in FORMATS.items() if item[1] is MODULES[format_name])
    for vector in java_wrote(codec)[::7]:
        assert vector.data is not None
        for end in range(min(len(vector.data), 400)):
            found = node_or_fault(module.loads, vector.data[:end])
            # The first digits of a number are a number too.
            assert isinstance(found, Malformed) or module in (json, ion), vector


@every_format
def test_java_s_bytes_changed_at_random(format_name: str) -> None:
    codec, module = next(item for item in FORMATS.items() if item[1] is MODULES[format_name])
    chance = random.Random(20261121)
    read = malformed = 0
    for vector in java_wrote(codec)[::5]:
        assert vector.data is not None
        for data in mutations(vector.data[:2000], 30, chance):
            found = node_or_fault(module.loads, data)
            read += not isinstance(found, Malformed)
            malformed += isinstance(found, Malformed)
    assert read > 100
    assert malformed > 1000


@every_format
def test_anything_after_the_node_is_refused(format_name: str) -> None:
    module = MODULES[format_name]
    for node in (1, "text", [1], Object((("a", 1),))):
        data = module.dumps(node)
        with pytest.raises(Malformed) as caught:
            module.loads(data + b"\x00")
        assert caught.value.offset == len(data)


@every_format
@pytest.mark.parametrize("kind", ["list", "object", "typed"])
def test_as_deep_as_values_may_be(format_name: str, kind: str) -> None:
    module = MODULES[format_name]
    node = nested(MAX_DEPTH, kind=kind)
    assert same_node(module.loads(module.dumps(node)), as_read(node, module))


@every_format
@pytest.mark.parametrize("kind", ["list", "object"])
def test_bytes_that_nest_too_deep(format_name: str, kind: str) -> None:
    module = MODULES[format_name]
    if module is json:  # its parser has the bound of Python's own recursion; what reads the node has ours
        data = b"[" * 200_000 if kind == "list" else b'{"k":' * 200_000
    else:
        data = module.dumps(nested(MAX_NODE_DEPTH, kind=kind))
        module.loads(data)
        data = module.dumps(nested(MAX_NODE_DEPTH + 1, kind=kind))
    with pytest.raises(Malformed, match=TOO_DEEP):
        module.loads(data)


@every_format
def test_bytes_that_nest_deeper_than_the_stack_is_free(format_name: str) -> None:
    module = MODULES[format_name]
    data = module.dumps(nested(150, kind="list"))
    assert isinstance(with_little_stack(60, lambda: node_or_fault(module.loads, data)), (Malformed, list))


@every_format
def test_names_that_occur_twice_are_kept(format_name: str) -> None:
    module = MODULES[format_name]
    node = Object((("a", 1), ("b", 2), ("a", None)))
    assert same_node(module.loads(module.dumps(node)), node)


@every_format
def test_a_fault_tells_where_the_node_stands(format_name: str) -> None:
    module = MODULES[format_name]
    impossible = 10**5000
    node = Typed("java.util.ArrayList", [0, Object((("a", [impossible]),))])
    assert refusal(module, node).path == "$[1]['a'][0]"
    assert refusal(module, impossible).path == "$"


@pytest.mark.parametrize("format_name", sorted(MODULES.keys() - {"json"}))
def test_a_surrogate_alone_is_refused_where_texts_are_utf_8(format_name: str) -> None:
    module = MODULES[format_name]
    for text in ("a\ud800", "\ud83d\ude00\ud800b", "\ud800\ud800\udc00"):
        assert "U+D800 alone is not a character" in refusal(module, text).message
        assert refusal(module, Object(((text, 1),))).path.startswith("$[")
    # Two that make a character are that character, as in Java.
    assert module.dumps("\ud83d\ude00") == module.dumps("\U0001f600")


@every_format
def test_numbers_that_jackson_would_not_read(format_name: str) -> None:
    module: Any = MODULES[format_name]
    for node in (1 << 8000, -(1 << 8000)):
        with pytest.raises(Unencodable):
            module.dumps(node)
