"""What SerializationCodec writes, a live Redisson reads as the same value; and what it writes of that, Python reads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings

from redisson_dq import java
from redisson_dq.codecs.serialization import SerializationCodec
from tests.conftest import by_night
from tests.interop.conftest import EACH_VERSION
from tests.interop.sides import recoded
from tests.peer import VERSIONS, JavaPeer, PeerError
from tests.unit.codecs import acme
from tests.unit.codecs.golden_rows import same
from tests.unit.codecs.samples import SAMPLES
from tests.unit.codecs.test_codec_serialization_golden import UNREAD, UNWRITTEN
from tests.unit.codecs.test_codec_serialization_properties import values
from tests.unit.codecs.vectors import vectors

GENERATED = 150
GENERATED_AT_NIGHT = 5_000
codec = SerializationCodec()


@pytest.mark.parametrize("version", EACH_VERSION)
def test_java_reads_every_sample_as_its_own_value(peers: Callable[[str], JavaPeer], version: str) -> None:
    peer = peers(version)
    rows = [row for row in vectors(codec.name, redisson=version) if row.data and row.same_back]
    names = [row.name for row in rows if row.name in SAMPLES and row.name not in UNREAD and row.name not in UNWRITTEN]
    assert len(names) > 430
    items = [{"name": name, "hex": codec.encode(SAMPLES[name]).hex()} for name in names]
    answers = peer.call_many("check_sample", items, codec=codec.name)
    unequal = [
        (name, answer)
        for name, answer in zip(names, answers, strict=True)
        if isinstance(answer, PeerError) or not answer["equal"]
    ]
    assert unequal == []


@pytest.mark.filterwarnings("ignore:Generating overly large repr")
@pytest.mark.parametrize("count", [GENERATED, by_night(GENERATED_AT_NIGHT)])
def test_generated_values_go_to_java_and_back(peers: Callable[[str], JavaPeer], count: int) -> None:
    generated: list[Any] = []

    @settings(max_examples=count, deadline=None, derandomize=True, database=None)
    @given(values)
    def generate(value: Any) -> None:
        generated.append(value)

    generate()
    written = [codec.encode(value) for value in generated]
    for value, data, answer in zip(generated, written, recoded(peers(VERSIONS[0]), codec.name, written), strict=True):
        assert "hex" in answer, (value, data, answer)
        # Java may share fewer objects, and its hash tables are of another size; the value is the same.
        assert same(codec.decode(bytes.fromhex(answer["hex"])), value), (value, data, answer)


def cycles() -> list[Any]:
    items: list[Any] = [1]
    items.append(items)
    mapping: dict[str, Any] = {"k": 1}
    mapping["self"] = mapping
    root = acme.TreeNode("root")
    root.children = [acme.TreeNode("left", root), acme.TreeNode("right", root)]
    array = java.ObjectArray([None])
    array[0] = array
    return [items, mapping, root, array]


def test_objects_that_hold_themselves_go_to_java_and_back(peers: Callable[[str], JavaPeer]) -> None:
    written = [codec.encode(value) for value in cycles()]
    answers = recoded(peers(VERSIONS[0]), codec.name, written)
    assert [bytes.fromhex(answer["hex"]) for answer in answers] == written


@pytest.mark.parametrize("size", [0, 1, 11, 12, 13, 24, 25, 48, 49, 97, 200])
@pytest.mark.parametrize(
    "kind",
    [
        set,
        java.LinkedHashSet,
        dict,
        java.HashMap,
        java.Hashtable,
        java.ConcurrentHashMap,
        java.Properties,
        java.TreeMap,
        java.Vector,
        java.ArrayDeque,
        java.PriorityQueue,
        java.ConcurrentHashSet,
    ],
)
def test_a_collection_of_any_size_goes_to_java_and_back(peers: Callable[[str], JavaPeer], kind: Any, size: int) -> None:
    # In order, which is what Java's heap makes of sorted elements as well.
    keys = sorted(f"key-{number}" for number in range(size))
    value = kind(dict.fromkeys(keys, 1)) if issubclass(kind, dict) else kind(keys)
    (answer,) = recoded(peers(VERSIONS[0]), codec.name, [codec.encode(value)])
    assert same(codec.decode(bytes.fromhex(answer["hex"])), value)
