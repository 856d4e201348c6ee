"""A live Redisson reads what Python writes as the same value, and Python reads what Redisson writes of it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redisson_dq import java
from redisson_dq.codecs import (
    JsonJacksonCodec,
    LZ4Codec,
    SnappyCodecV2,
    ZStdCodec,
)
from redisson_dq.java import time_numbers
from tests.conftest import by_night
from tests.interop.conftest import EACH_VERSION, each_version
from tests.interop.sides import recoded
from tests.peer import VERSIONS, JavaPeer, PeerError
from tests.unit.codecs import acme
from tests.unit.codecs.samples import SAMPLES
from tests.unit.codecs.test_codec_properties import decimals, keys, scalars, texts
from tests.unit.codecs.test_codec_vectors import CODECS, codec_of, is_unread, is_written_otherwise, rows_of
from tests.versions import REDISSONS

GENERATED = 150
# Most of the time goes into making the values.
GENERATED_AT_NIGHT = 10_000


#: Its peer runs with other flags: test_marshalling_peer.py
APART = "MarshallingCodec"
#: Each codec of each Redisson that has it.
EACH_CODEC = [
    (codec, version) for version in REDISSONS for codec in CODECS if codec != APART and rows_of(codec, version)
]


@pytest.mark.parametrize(("codec", "version"), each_version(EACH_CODEC))
def test_java_reads_every_sample_as_its_own_value(peers: Callable[[str], JavaPeer], codec: str, version: str) -> None:
    check_samples(peers(version), codec, version)


def check_samples(peer: JavaPeer, codec: str, version: str) -> None:
    samples = [row.name for row in rows_of(codec, version) if not is_unread(row) and not is_written_otherwise(row)]
    assert len(samples) > 150
    items = [{"name": name, "hex": codec_of(codec, version).encode(SAMPLES[name]).hex()} for name in samples]
    answers = peer.call_many("check_sample", items, codec=codec)
    unequal = [
        (name, answer)
        for name, answer in zip(samples, answers, strict=True)
        if isinstance(answer, PeerError) or not answer["equal"]
    ]
    assert unequal == []


#: What JavaTimeModule tells Java whole: an offset or a zone is read as UTC. The least Duration is refused.
JAVA_TIME = ("instant/", "local", "calendarpart/", "zone/", "offsettime/", "duration/", "period/")


@pytest.mark.parametrize("version", EACH_VERSION)
def test_java_reads_what_its_modules_would_write(peers: Callable[[str], JavaPeer], version: str) -> None:
    codec = JsonJacksonCodec(java_time="numbers", redisson=version)
    spec = {"name": "JsonJacksonCodec", "modules": True}
    unequal = []
    for name in sorted(name for name in SAMPLES if name.startswith(JAVA_TIME) and name != "duration/min"):
        encoded = codec.encode(SAMPLES[name]).hex()
        if not peers(version).call("check_sample", codec=spec, name=name, hex=encoded)["equal"]:
            unequal.append(name)
    # Redisson 3's Jackson reads its own number of a negative Duration wrong.
    assert unequal == ([] if version.startswith("4.") else ["duration/negative"])


times_of_java = st.one_of(
    st.integers(-(10**12), 10**12).map(time_numbers.java_date),
    st.builds(time_numbers.instant, st.integers(-(10**11), 10**11), st.integers(0, 999_999_999)),
    st.builds(time_numbers.duration, st.integers(-(2**40), 2**40), st.integers(0, 999_999_999)),
    st.integers(-(10**7), 10**7).map(time_numbers.local_date_of_days),
    st.builds(
        time_numbers.local_time, st.integers(0, 23), st.integers(0, 59), st.integers(0, 59), st.integers(0, 999_999_999)
    ),
    st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)),
    st.builds(
        lambda at, minutes: at.replace(tzinfo=timezone(timedelta(minutes=minutes or 60))),
        st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)),
        st.integers(-18 * 60, 18 * 60),
    ),
)
arrays = st.one_of(
    st.lists(st.integers(-(2**31), 2**31 - 1), max_size=5).map(java.IntArray),
    st.lists(st.integers(-(2**63), 2**63 - 1), max_size=5).map(java.LongArray),
    st.lists(st.floats(), max_size=5).map(java.DoubleArray),
    st.lists(st.none() | texts, max_size=5).map(java.StringArray),
)
enums = st.sampled_from([*acme.Color, acme.Planet.PLUTO, *java.Month])
points = st.builds(acme.Point, st.integers(-(2**31), 2**31 - 1), st.integers(-(2**31), 2**31 - 1))
leaves = st.one_of(scalars, times_of_java, arrays, enums, points, st.uuids())


def containers(
    inner: st.SearchStrategy[Any], of_keys: st.SearchStrategy[Any], of_texts: st.SearchStrategy[str] = texts
) -> st.SearchStrategy[Any]:
    lists = st.lists(inner, max_size=5)
    return st.one_of(
        lists,
        lists.map(java.LinkedList),
        lists.map(java.ArrayDeque).filter(lambda items: None not in items),
        lists.map(java.ObjectArray),
        st.lists(of_texts, max_size=5).map(java.LinkedHashSet),
        st.dictionaries(of_keys, inner.filter(lambda value: value is not None), max_size=5),
        st.builds(acme.Line, st.none() | points, st.none() | points, st.none() | of_texts),
    )


def deeper(
    inner: st.SearchStrategy[Any], of_keys: st.SearchStrategy[Any], of_texts: st.SearchStrategy[str] = texts
) -> st.SearchStrategy[Any]:
    return st.one_of(
        containers(inner, of_keys, of_texts),
        inner.map(lambda value: acme.Box(value)),
        st.builds(acme.Order, st.integers(-(2**31), 2**31 - 1).map(java.Long), of_texts, finite, st.lists(of_texts)),
    )


finite = st.floats(allow_nan=False, allow_infinity=False)
#: Jackson writes no name with a lone surrogate; names with an @ may be its own.
names = st.text(max_size=20).filter(lambda text: not text.startswith("@"))
dates = times_of_java.filter(lambda value: time_numbers.java_time_name(value) == java.JavaDate.java_name)
json_leaves = st.one_of(
    scalars.filter(lambda value: not isinstance(value, Decimal)), dates, enums, points, st.uuids(), arrays
)
#: Java reads an offset as UTC. An Order and a Box have no getters there.
json3_leaves = st.one_of(
    scalars,
    times_of_java.filter(lambda value: time_numbers.java_time_name(value) != java.OffsetDateTime.java_name),
    *(enums, points, st.uuids(), arrays),
)
#: The binary formats have texts of whole characters alone, and MessagePack whole numbers of 64 bits.
whole_texts = st.text(max_size=40)
msgpack_leaves = st.one_of(
    *(st.none(), st.booleans(), st.floats(), whole_texts, st.binary(max_size=40), dates, enums, points, st.uuids()),
    *(st.integers(-(2**63), 2**63 - 1), st.integers(-(2**31), 2**31 - 1).map(java.Long)),
    *(st.integers(-128, 127).map(java.Byte), st.floats(width=32).map(java.Float)),
    st.lists(st.floats(), max_size=5).map(java.DoubleArray),
    st.lists(st.none() | whole_texts, max_size=5).map(java.StringArray),
)
cbor_leaves = msgpack_leaves | st.integers() | decimals
GENERATORS = {
    "Kryo5Codec": st.recursive(
        leaves, lambda inner: deeper(inner, keys) | st.lists(inner, max_size=5).map(java.ArrayAsList), max_leaves=10
    ),
    "JsonJacksonCodec": st.recursive(json_leaves, lambda inner: deeper(inner, names), max_leaves=10),
    "JsonJackson3Codec": st.recursive(json3_leaves, lambda inner: containers(inner, names), max_leaves=10),
    "MsgPackJacksonCodec": st.recursive(msgpack_leaves, lambda inner: deeper(inner, names, whole_texts), max_leaves=10),
    "CborJacksonCodec": st.recursive(cbor_leaves, lambda inner: deeper(inner, names, whole_texts), max_leaves=10),
}
#: As the whole value Jackson loses the type of some.
GENERATORS = {
    name: values if name == "Kryo5Codec" else values.map(lambda value: [value]) for name, values in GENERATORS.items()
}


@pytest.mark.filterwarnings("ignore:Generating overly large repr")
@pytest.mark.parametrize("count", [GENERATED, by_night(GENERATED_AT_NIGHT)])
@pytest.mark.parametrize("name", GENERATORS)
def test_generated_values_go_to_java_and_back(peers: Callable[[str], JavaPeer], name: str, count: int) -> None:
    codec = CODECS[name]
    generated: list[Any] = []

    @settings(max_examples=count, deadline=None, derandomize=True, database=None)
    @given(GENERATORS[name])
    def generate(value: Any) -> None:
        generated.append(value)

    generate()
    assert len(generated) >= count
    written = [codec.encode(value) for value in generated]
    for value, data, answer in zip(generated, written, recoded(peers(VERSIONS[0]), name, written), strict=True):
        assert "hex" in answer, (value, data, answer)
        back = bytes.fromhex(answer["hex"])
        # JDK 17 writes other digits for some floats than JDK 19; the binary formats have none.
        assert back == data or name.startswith("Json"), (value, data, answer)
        assert codec.encode(codec.decode(back)) == data, (value, data, answer)


@pytest.mark.parametrize("compressing", [LZ4Codec, SnappyCodecV2, ZStdCodec])
def test_java_reads_what_is_compressed(peers: Callable[[str], JavaPeer], compressing: type[LZ4Codec]) -> None:
    spec = {"name": compressing.__name__, "inner": "Kryo5Codec"}
    for name in ("object/order", "list/arraylist-300", "string/ascii"):
        encoded = compressing().encode(SAMPLES[name]).hex()
        assert peers(VERSIONS[0]).call("check_sample", codec=spec, name=name, hex=encoded)["equal"]
