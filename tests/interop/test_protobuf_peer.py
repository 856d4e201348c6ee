"""What ProtobufCodec writes, a live Redisson reads as the same value, and writes to the same bytes."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Annotated, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redisson_dq import java
from redisson_dq.codecs import ProtobufCodec
from redisson_dq.codecs.protostuff import name_of
from redisson_dq.java import JavaType, time_numbers
from redisson_dq.java.numbers import decoded_long
from tests.conftest import by_night
from tests.interop.conftest import NEWEST_BY_DAY
from tests.peer import VERSIONS, JavaPeer, PeerError
from tests.unit.codecs import acme
from tests.unit.codecs.golden_rows import same
from tests.unit.codecs.protobuf_rows import VALUES, codec_of, rows_of, shipment_pb2

#: Redisson has the codec since 3.23.4.
HAVING, WITHOUT = VERSIONS[:-1], VERSIONS[-1]
GENERATED = 100
GENERATED_AT_NIGHT = 1_000


def spec_of(class_name: str) -> dict[str, str]:
    return {"name": "ProtobufCodec", "class": class_name}


@pytest.mark.parametrize("version", NEWEST_BY_DAY[:-1])
def test_java_reads_every_sample_as_its_own_value(peers: Callable[[str], JavaPeer], version: str) -> None:
    samples = [row for row in rows_of(version) if row.same_back]
    assert len(samples) > 40
    unequal = {}
    for row in samples:
        encoded = codec_of(row).encode(VALUES[row.name]).hex()
        answer = peers(version).call("check_sample", codec=json.loads(row.spec), name=row.name, hex=encoded)
        if not answer["equal"]:
            unequal[row.name] = answer
    assert unequal == {}


def test_an_older_redisson_does_not_have_the_codec(peers: Callable[[str], JavaPeer]) -> None:
    with pytest.raises(PeerError, match="no codec ProtobufCodec"):
        peers(WITHOUT).call("recode_many", codec=spec_of("java.lang.String"), items=[])


@pytest.mark.parametrize("version", NEWEST_BY_DAY[:-1])
@pytest.mark.parametrize(
    "name",
    [
        *("localdate/leap-day", "localdate/min", "localtime/nanos", "localdatetime/nanos", "instant/nanos"),
        *("instant/min", "duration/negative-nano", "offsetdatetime/nanos", "offsettime/nanos", "period/mixed"),
        *("zoneddatetime/nanos", "zoneddatetime/overlap-later", "zoneddatetime/offset", "calendarpart/monthday"),
        *("calendarpart/year-negative", "calendarpart/yearmonth-far", "zone/offset-quarters", "zone/region"),
    ],
)
def test_java_reads_times_alone_and_in_a_field(peers: Callable[[str], JavaPeer], version: str, name: str) -> None:
    value = VALUES[name]
    java_name = name_of(value)
    alone = ProtobufCodec(Annotated[Any, JavaType(java_name)])
    for codec, whole, spec in (
        (alone, value, spec_of(java_name)),
        (ProtobufCodec(acme.Box), acme.Box(value), spec_of("com.acme.Box")),
    ):
        data = codec.encode(whole)
        [answer] = peers(version).call("recode_many", codec=spec, items=[data.hex()])
        assert answer["hex"] == data.hex()
        assert same(codec.decode(data), whole)


ints, longs = st.integers(-(2**31), 2**31 - 1), st.integers(-(2**63), 2**63 - 1)
boxed_longs = longs.map(decoded_long)
#: Java writes texts into buffers of 512 bytes, so some are longer.
texts = st.text() | st.text(min_size=100, max_size=700)
finite = st.floats(allow_nan=False)
addresses = st.builds(acme.Address, texts, texts, ints)
customers = st.builds(acme.Customer, st.none() | texts, st.none() | addresses)
orders = st.builds(
    acme.Order,
    st.none() | boxed_longs,
    st.none() | texts,
    finite,
    st.none() | st.lists(texts, min_size=1),
    st.none() | customers,
)
scalars = st.one_of(
    st.booleans(),
    st.integers(-(2**70), 2**70),
    boxed_longs,
    ints.map(java.BigInteger),
    st.integers(-(2**15), 2**15 - 1).map(java.Short),
    st.integers(-128, 127).map(java.Byte),
    finite,
    st.floats(width=32, allow_nan=False).map(java.Float),
    texts,
    st.binary(),
    st.characters(max_codepoint=0xFFFF, exclude_categories=()).map(java.Character),
    st.decimals(allow_nan=False, allow_infinity=False).filter(lambda value: value or not value.is_signed()),
    st.uuids(),
    st.integers(-(10**12), 10**12).map(time_numbers.java_date),
    st.builds(time_numbers.instant, st.integers(-(10**11), 10**11), st.integers(0, 999_999_999)),
    st.sampled_from([*acme.Color, *acme.Planet]),
    st.lists(ints, max_size=5).map(java.IntArray),
    st.lists(texts, max_size=5).map(java.StringArray),
    st.lists(orders, max_size=2).map(lambda items: java.Array("com.acme.Order", items)),
)
values = st.recursive(
    scalars | orders,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(java.LinkedList),
        st.lists(inner, max_size=4).map(java.ObjectArray),
        st.lists(texts, max_size=4).map(java.LinkedHashSet),
        st.dictionaries(st.none() | texts, st.none() | inner, max_size=4),
        inner.map(acme.Box),
    ),
    max_leaves=8,
)
loose = st.builds(
    acme.Loose,
    any=st.none() | values,
    number=st.none() | boxed_longs,
    chars=st.none() | texts,
    items=st.none() | st.lists(values, min_size=1, max_size=3),
    color=st.none() | st.sampled_from(acme.Color),
    planet=st.none() | st.sampled_from(acme.Planet),
)
shipments = st.builds(
    shipment_pb2.Shipment,
    id=longs,
    sku=texts,
    price=finite,
    tags=st.lists(texts),
    recipient=st.none() | st.builds(shipment_pb2.Recipient, name=texts, city=st.none() | texts),
    state=st.sampled_from([shipment_pb2.NEW, shipment_pb2.SENT]),
    stock=st.dictionaries(texts, ints, max_size=1),  # Java keeps the order in which it read a map
    label=st.binary(),
    offset=ints,
    insured=st.none() | st.booleans(),
)
GENERATORS: dict[str, tuple[Any, st.SearchStrategy[Any]]] = {
    "com.acme.Order": (acme.Order, orders),
    "com.acme.Loose": (acme.Loose, loose),
    "com.acme.proto.Shipment": (shipment_pb2.Shipment, shipments),
}


@pytest.mark.parametrize("count", [GENERATED, by_night(GENERATED_AT_NIGHT)])
@pytest.mark.parametrize("name", GENERATORS)
def test_generated_values_go_to_java_and_back(peers: Callable[[str], JavaPeer], name: str, count: int) -> None:
    kind, strategy = GENERATORS[name]
    codec = ProtobufCodec(kind)
    generated: list[Any] = []

    @settings(max_examples=count, deadline=None, derandomize=True, database=None)
    @given(strategy)
    def generate(value: Any) -> None:
        generated.append(value)

    generate()
    assert len(generated) >= count
    written = [codec.encode(value) for value in generated]
    items = [data.hex() for data in written]
    for version in HAVING if count == GENERATED_AT_NIGHT else HAVING[:1]:
        answers = peers(version).call("recode_many", codec=spec_of(name), items=items, timeout=60)
        unequal = [
            (value, answer)
            for value, data, answer in zip(generated, items, answers, strict=True)
            if answer.get("hex") != data
        ]
        assert unequal == []
    for value, data in zip(generated, written, strict=True):
        assert same(codec.decode(data), value)
