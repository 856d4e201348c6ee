"""SerializationCodec gives back what it was given, whatever it is."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from redisson_dq import java
from redisson_dq.codecs.serialization import ReadState, WriteState, read_object, write_object
from redisson_dq.java import time_numbers
from tests.conftest import as_many
from tests.unit.codecs import acme
from tests.unit.codecs.golden_rows import same
from tests.unit.codecs.test_codec_properties import keys, scalars, texts
from tests.unit.codecs.test_codec_serialization_golden import codec

__all__ = ["values"]

pytestmark = pytest.mark.filterwarnings("ignore:Generating overly large repr")

bounded = settings(max_examples=as_many(120, 500), deadline=None, derandomize=True, database=None)

ints = st.integers(-(2**31), 2**31 - 1)
nanos = st.integers(0, 999_999_999)
dates = st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)).map(lambda at: at.replace(fold=0))
moments = st.one_of(
    st.integers(-(10**15), 10**15).map(time_numbers.java_date),
    st.builds(time_numbers.timestamp, st.integers(-(10**10), 10**10), nanos),
    st.builds(time_numbers.instant, st.integers(-(10**12), 10**12), nanos),
    st.builds(time_numbers.duration, st.integers(-(2**62), 2**62), nanos),
    st.integers(-(10**9), 10**9).map(time_numbers.local_date_of_days),
    st.builds(time_numbers.local_time, st.integers(0, 23), st.integers(0, 59), st.integers(0, 59), nanos | st.just(0)),
    dates,
    st.builds(
        lambda at, minutes: at.replace(tzinfo=timezone(timedelta(minutes=minutes))),
        dates,
        st.integers(-18 * 60, 18 * 60).filter(bool),
    ),
    st.builds(java.Period, ints, ints, ints),
)
numbers = st.one_of(
    st.lists(ints, max_size=5).map(java.IntArray),
    st.lists(st.floats(allow_nan=False), max_size=5).map(java.DoubleArray),
    st.lists(st.none() | texts, max_size=5).map(java.StringArray),
    st.sets(st.integers(0, 500)).map(java.BitSet),
    st.floats(allow_nan=False).map(lambda number: java.AtomicReference(number)),
)
points = st.builds(acme.Point, ints, ints)
plain = scalars.filter(lambda value: value == value)  # NaN is like no other
leaves = st.one_of(plain, moments, numbers, points, st.uuids(), st.sampled_from([*acme.Color, *java.Month]))


def deeper(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    lists = st.lists(inner, max_size=5)
    full = lists.filter(lambda items: not any(item is None for item in items))
    dicts = st.dictionaries(keys, inner, max_size=5)
    return st.one_of(
        lists,
        lists.map(java.LinkedList),
        lists.map(java.Vector),
        lists.map(java.ListOf),
        lists.map(java.ObjectArray),
        lists.map(java.ArrayAsList),
        lists.map(java.unmodifiable),
        full.map(java.ArrayDeque),
        full.map(java.LinkedBlockingDeque),
        st.lists(texts, max_size=20).map(java.LinkedHashSet),
        st.lists(texts, max_size=20).map(java.ConcurrentHashSet),
        st.sets(texts, max_size=20),
        dicts,
        dicts.map(java.synchronized),
        st.dictionaries(texts, ints, max_size=20).map(java.HashMap),
        st.dictionaries(texts, ints, max_size=20).map(java.Hashtable),
        st.dictionaries(texts, ints, max_size=20).map(java.ConcurrentHashMap),
        inner.map(lambda value: acme.Box(value)),
        inner.map(lambda value: [value, value]),
        st.builds(acme.Line, st.none() | points, st.none() | points, st.none() | texts),
    )


values = st.recursive(leaves, deeper, max_leaves=12)


@bounded
@given(values)
def test_a_value_comes_back(value: Any) -> None:
    data = codec.encode(value)
    back = codec.decode(data)
    assert same(back, value)
    assert codec.encode(back) == data


@bounded
@given(st.lists(values, max_size=4))
def test_values_of_one_stream_come_back_one_after_another(given_values: list[Any]) -> None:
    writing = WriteState()
    parts = [write_object(value, writing) for value in given_values]
    data = b"before" + b"".join(parts) + b"after"
    reading, pos = ReadState(), len(b"before")
    for value, part in zip(given_values, parts, strict=True):
        back, end = read_object(data, pos, reading)
        assert same(back, value)
        assert end - pos == len(part)
        pos = end
