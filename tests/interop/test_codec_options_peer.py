"""Codecs with options: what Python writes, a live Redisson of the same options reads as the same value, and back."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redisson_dq import java
from redisson_dq.codecs import Codec, Kryo5Codec
from redisson_dq.errors import DecodeError, EncodeError
from redisson_dq.java.registry import declaration_for
from tests.conftest import by_night
from tests.interop.conftest import NEWEST_BY_DAY, each_version
from tests.interop.sides import recoded
from tests.interop.test_codec_peer import arrays, deeper, enums, finite, points, times_of_java
from tests.peer import JavaPeer, PeerError
from tests.unit.codecs import acme
from tests.unit.codecs.golden_rows import same
from tests.unit.codecs.samples import SAMPLES
from tests.unit.codecs.specs import codec_of
from tests.unit.codecs.test_codec_properties import keys, scalars, texts
from tests.unit.codecs.test_codec_vectors_options import (
    CODECS,
    CYCLES,
    codec_for,
    is_read_back,
    spec_of,
    value_of,
    with_options,
)
from tests.unit.codecs.vectors import vectors
from tests.versions import NEWEST, REDISSONS

pytestmark = pytest.mark.filterwarnings("ignore:Generating overly large repr")

#: The versions whose Kryo5Codec has options.
WITH_OPTIONS = NEWEST_BY_DAY[:-1]
PLAIN = [row for row in vectors("Kryo5Codec", redisson=NEWEST) if row.same_back and row.name in SAMPLES]
NAMES = [row.name for row in PLAIN]

#: Redisson registers the allowed classes before it adds these classes' serializers: it cannot start with the first
#: ones on JDK 17, nor read what it writes of the others.
UNREGISTRABLE = (
    *("java.util.UUID", "java.net.URI", "java.util.regex.Pattern", "java.util.concurrent.atomic."),
    *(f"java.util.Collections${kind}" for kind in ("Unmodifiable", "Synchronized", "Checked")),
    "java.util.EnumMap",
)
#: Values that every Redisson writes with allowed classes and cannot read.
UNREADABLE = {"set/concurrent"}


def allowed_classes() -> list[str]:
    """The classes of nearly all samples: so many that some ids take two bytes. Sorted, as Redisson 4 does by itself."""
    declared = filter(None, map(declaration_for, {kind for kind in vars(acme).values() if isinstance(kind, type)}))
    names = {row.java_type for row in PLAIN if not row.name.startswith("exception/")}
    names |= {declaration.name for declaration in declared}
    names |= {"[Lcom.acme.Point;", "[Lcom.acme.Shape;", "java.util.EnumSet"}
    names |= {"java.util.Collections$ReverseComparator", "java.lang.String$CaseInsensitiveComparator"}
    return sorted(name for name in names - {"null", "com.acme.Planet$2"} if not name.startswith(UNREGISTRABLE))


ALLOWED = allowed_classes()
KRYO: dict[str, dict[str, Any]] = {
    "references": {"name": "Kryo5Codec", "references": True},
    "allowed": {"name": "Kryo5Codec", "allowedClasses": ALLOWED},
    "both": {"name": "Kryo5Codec", "allowedClasses": ALLOWED, "references": True},
}


def check_sample(peer: JavaPeer, spec: Any, name: str, value: Any, codec: Codec) -> None:
    """That the sample of that name comes through in both directions."""
    answer = peer.call("check_sample", codec=spec, name=name, hex=codec.encode(value).hex())
    assert answer["equal"], (spec["name"], name, answer)
    assert same(codec.decode(bytes.fromhex(peer.call("encode_sample", codec=spec, name=name))), value), name


def check_unreadable(peer: JavaPeer, spec: Any, name: str, value: Any, codec: Codec) -> None:
    """That Python reads the bytes of Java and does not write them, as this Java does not read them."""
    written = peer.call("encode_sample", codec=spec, name=name)
    with pytest.raises(EncodeError, match="cannot read back"):
        codec.encode(value)
    assert same(codec.decode(bytes.fromhex(written)), value)
    with pytest.raises(PeerError, match="UnsupportedOperationException"):
        peer.call("check_sample", codec=spec, name=name, hex=written)


def is_written(peer: JavaPeer, spec: Any, name: str) -> bool:
    """Whether all classes of the sample are allowed in Java."""
    try:
        peer.call("encode_sample", codec=spec, name=name)
    except PeerError as error:
        if "Class is not registered" not in str(error):
            raise
        return False
    return True


def unreadable(version: str) -> set[str]:
    """The samples that this Redisson writes without allowed classes and cannot read."""
    return {row.name for row in vectors("Kryo5Codec", redisson=version) if row.data and not row.same_back}


@pytest.mark.parametrize("version", WITH_OPTIONS)
def test_samples_with_references_go_to_java_and_back(peers: Callable[[str], JavaPeer], version: str) -> None:
    codec = codec_of(KRYO["references"], version)
    assert len(NAMES) > 450
    for name in NAMES:
        check = check_unreadable if name in unreadable(version) else check_sample
        check(peers(version), KRYO["references"], name, SAMPLES[name], codec)


@pytest.mark.parametrize("references", [False, True])
@pytest.mark.parametrize("share", [1.0, by_night(0.98), by_night(0.9), 0.5])
@pytest.mark.parametrize("version", WITH_OPTIONS)
def test_samples_of_allowed_classes_go_to_java_and_back(
    peers: Callable[[str], JavaPeer], version: str, share: float, references: bool
) -> None:
    classes = sorted(random.Random(7).sample(ALLOWED, int(share * len(ALLOWED))))
    spec = {"name": "Kryo5Codec", "allowedClasses": classes, "references": references}
    codec = codec_of(spec, version)
    written = 0
    for name in NAMES:
        if is_written(peers(version), spec, name):
            check = check_unreadable if name in UNREADABLE else check_sample
            check(peers(version), spec, name, SAMPLES[name], codec)
            written += 1
        else:
            with pytest.raises(EncodeError, match=r"none of the allowed classes|writes no exceptions"):
                codec.encode(SAMPLES[name])
    assert written > 400 * share * share


@pytest.mark.parametrize("version", WITH_OPTIONS)
def test_a_class_that_is_not_allowed_is_refused_on_both_sides(peers: Callable[[str], JavaPeer], version: str) -> None:
    spec = {"name": "Kryo5Codec", "allowedClasses": ["java.util.ArrayList"]}
    codec = codec_of(spec, version)
    for name in ("record/point", "array/int", "list/arraylist-nested", "date/millis"):
        with pytest.raises(EncodeError, match="none of the allowed classes"):
            codec.encode(SAMPLES[name])
        with pytest.raises(PeerError, match="Class is not registered"):
            peers(version).call("encode_sample", codec=spec, name=name)
        data = Kryo5Codec().encode(SAMPLES[name])
        with pytest.raises(DecodeError, match="none of the allowed classes"):
            codec.decode(data)
        with pytest.raises(PeerError, match="Class is not registered"):
            peers(version).call("decode", codec=spec, hex=data.hex())


# Generated values

ints = st.integers(-(2**31), 2**31 - 1)
leaves = st.one_of(scalars, times_of_java, arrays, enums, points)


def boxes(content: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | st.builds(acme.Box, st.none() | content)


def lists(content: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | st.lists(content, max_size=3)


disks = st.builds(acme.Circle, finite)
shapes = st.one_of(st.none(), disks, st.builds(acme.Square, ints))
addresses = st.none() | st.builds(acme.Address, texts, texts, ints)
customers = st.builds(acme.Customer, texts, addresses) | st.builds(acme.VipCustomer, texts, addresses, ints, texts)
#: Objects whose fields' type arguments decide how Kryo writes them.
objects = st.one_of(
    st.builds(acme.Shelf, boxes(texts), boxes(ints), lists(boxes(texts)), boxes(lists(ints))),
    st.builds(
        acme.Dock,
        st.none() | st.builds(acme.Crate, st.none() | texts, st.none() | ints, lists(texts)),
        lists(st.builds(acme.Crate, st.none() | ints, st.none() | texts, lists(ints))),
        boxes(texts),
    ),
    st.builds(acme.StringBox, st.none() | texts, ints),
    st.builds(acme.Order, st.none(), texts, finite, lists(st.none() | texts), customers),
    st.builds(
        acme.Drawing,
        shapes,
        st.none() | disks,
        lists(shapes),
        st.none() | st.dictionaries(texts, shapes, max_size=3),
        lists(shapes).map(lambda items: items and java.Array("com.acme.Shape", items)),
    ),
)
trees = st.recursive(leaves | objects, lambda inner: deeper(inner, keys), max_leaves=10)


@st.composite
def graphs(draw: st.DrawFn) -> Any:
    """Objects that hold each other any number of times, in circles too."""
    kinds = (list, dict, acme.Box, acme.TreeNode, java.ObjectArray, java.LinkedList, java.Vector)
    nodes: list[Any] = [kind() for kind in draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=6))]
    tree_nodes = [node for node in nodes if isinstance(node, acme.TreeNode)]
    held = st.sampled_from(nodes) | ints | texts | points
    for node in nodes:
        if isinstance(node, acme.TreeNode):
            node.parent = draw(st.none() | st.sampled_from(tree_nodes))
            node.children = draw(st.lists(st.sampled_from(tree_nodes), max_size=3))
        elif isinstance(node, acme.Box):
            node.content = draw(held)
        elif isinstance(node, dict):
            node.update(draw(st.dictionaries(texts, held, max_size=3)))
        else:
            node.extend(draw(st.lists(held, max_size=3)))
    return nodes[0]


GRAPHS = graphs()


@functools.cache
def generated(values: st.SearchStrategy[Any], count: int) -> list[Any]:
    """The same values for every codec and version."""
    found: list[Any] = []

    @settings(max_examples=count, deadline=None, derandomize=True, database=None)
    @given(values)
    def generate(value: Any) -> None:
        found.append(value)

    generate()
    assert len(found) >= count
    return found


@pytest.mark.parametrize("count", [150, by_night(2_000)])
@pytest.mark.parametrize("version", WITH_OPTIONS)
@pytest.mark.parametrize("options", KRYO)
def test_generated_values_go_to_java_and_back(
    peers: Callable[[str], JavaPeer], version: str, options: str, count: int
) -> None:
    codec = codec_of(KRYO[options], version)
    values = generated(trees, count)
    written = [codec.encode(value) for value in values]
    others = 0
    for value, data, answer in zip(values, written, recoded(peers(version), KRYO[options], written), strict=True):
        assert "hex" in answer, (value, data, answer)
        back = bytes.fromhex(answer["hex"])
        assert codec.encode(codec.decode(data)) == data, (value, data)
        if back != data:
            # Java has one object for all its empty Durations and its BigInteger zeros, and so refers back to it.
            others += 1
            assert same(codec.decode(back), codec.decode(data)), (value, data, answer)
    assert others <= (0 if options == "allowed" else len(values) // 50)


@pytest.mark.parametrize("count", [80, by_night(1_000)])
@pytest.mark.parametrize("version", WITH_OPTIONS)
@pytest.mark.parametrize("options", ["references", "both"])
def test_shared_objects_and_cycles_go_to_java_and_back(
    peers: Callable[[str], JavaPeer], version: str, options: str, count: int
) -> None:
    codec = codec_of(KRYO[options], version)
    values = [*CYCLES.values(), *generated(GRAPHS, count)]
    written = [codec.encode(value) for value in values]
    # Equal bytes say that both sides take the same places for one object.
    answers = recoded(peers(version), KRYO[options], written)
    assert [answer.get("hex") for answer in answers] == [data.hex() for data in written]
    assert [codec.encode(codec.decode(data)) for data in written] == written


# Codecs of one declared type, codecs of codecs

OTHERS = [
    (codec, version)
    for version in REDISSONS
    for codec in CODECS
    if codec != "Kryo5Codec" and any(map(is_read_back, with_options(codec, version)))
]


@pytest.mark.parametrize(("codec", "version"), each_version(OTHERS))
def test_samples_go_to_java_and_back(peers: Callable[[str], JavaPeer], codec: str, version: str) -> None:
    peer = peers(version)
    rows = [row for row in with_options(codec, version) if is_read_back(row)]
    assert len(rows) >= 5
    for row in rows:
        check_sample(peer, spec_of(row), row.name, value_of(row), codec_for(row))
