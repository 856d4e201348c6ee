"""Sorted collections: Python sorts as Java does, so Java finds each key of what Python wrote."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import attrs
import pytest

from redisson_dq import java
from redisson_dq.codecs import Codec, Kryo5Codec, SerializationCodec
from redisson_dq.errors import EncodeError
from redisson_dq.java import Comparator, java_class
from tests.conftest import by_night
from tests.interop.programs import JAVA, JavaProgram

SERIALIZATION, KRYO = SerializationCodec(), Kryo5Codec()


class SortedJava:
    """The program in ``java/Sorted.java``."""

    def __init__(self, classes: Path) -> None:
        self._program = JavaProgram("Sorted", [JAVA / "Sorted.java"], classes)
        self.close = self._program.close

    def written(self, seed: int, count: int) -> dict[str, list[bytes]]:
        rows = [line.split("\t") for line in self._program.call("write", str(seed), str(count))]
        return {name: [bytes.fromhex(text) for text in texts] for name, *texts in rows}

    def found(self, values: list[tuple[Codec, bytes]]) -> list[str]:
        return self._program.call("read", sent="".join(f"{codec.name} {data.hex()}\n" for codec, data in values))


@java_class("Sorted$Rank", serial_version_uid=1)
@attrs.frozen
class Rank:
    number: int


@pytest.fixture(scope="module")
def sorted_java(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SortedJava]:
    with closing(SortedJava(tmp_path_factory.mktemp("sorted"))) as made:
        yield made


@pytest.mark.parametrize("seed", [0, *map(by_night, range(1, 4))])
def test_python_sorts_random_values_as_java_does(sorted_java: SortedJava, seed: int) -> None:
    chance = random.Random(seed)
    sent: list[tuple[Codec, bytes]] = []
    for name, written in sorted_java.written(seed, 60).items():
        if name == "ranks":
            continue
        listed, natural, opposite = written
        items: list[Any] = SERIALIZATION.decode(listed)
        assert len(items) > 1, name
        shuffled = chance.sample(items, len(items))
        comparator = Comparator.CASE_INSENSITIVE_ORDER if name == "caseless" else None
        other = comparator or Comparator.REVERSE_ORDER
        orders: list[Any] = [java.TreeSet(shuffled, comparator), java.TreeSet(shuffled, other)]
        maps: list[Any] = [kind(dict.fromkeys(shuffled, 1)) for kind in (java.TreeMap, java.ConcurrentSkipListMap)]
        if len(orders[0]) < len(items):  # equal in Python, as 0.0 and -0.0 are
            orders = [java.Elements("java.util.TreeSet", shuffled, one) for one in (comparator, other)]
            maps = [java.Entries("java.util.TreeMap", [(item, 1) for item in shuffled])]
        if comparator is not None:
            maps = [java.TreeMap(dict.fromkeys(shuffled, 1), comparator)]
        for made, expected in zip(orders, (natural, opposite), strict=True):
            order = items if expected is natural or comparator else items[::-1]
            back = SERIALIZATION.decode(SERIALIZATION.encode(made))
            assert list(map(repr, back)) == list(map(repr, order)), name
            assert SERIALIZATION.encode(SERIALIZATION.decode(expected)) == expected, name
        values = [*orders, *maps, java.PriorityQueue(shuffled, comparator), java.unmodifiable(maps[0])]
        # Kryo rounds a Timestamp, and does not write the offset of a ZonedDateTime.
        used = (SERIALIZATION,) if name in ("Timestamp", "ZonedDateTime") else (SERIALIZATION, KRYO)
        sent += [(codec, codec.encode(value)) for codec in used for value in values]
    results = sorted_java.found(sent)
    assert results == ["found"] * len(sent)
    assert len(sent) > 300


def test_an_order_that_only_java_knows_stays_as_it_was_read(sorted_java: SortedJava) -> None:
    ranks = sorted_java.written(0, 1)["ranks"]
    sent: list[tuple[Codec, bytes]] = []
    for data in ranks:
        read = SERIALIZATION.decode(data)
        assert SERIALIZATION.encode(read) == data
        sent += [(SERIALIZATION, data), (KRYO, KRYO.encode(read))]
        inner = getattr(read, "wrapped", read)
        if isinstance(inner, dict):
            del inner[Rank(20)]
            inner[Rank(3)] = "changed"
        else:
            inner.discard(Rank(20))
        sent += [(codec, codec.encode(inner)) for codec in (SERIALIZATION, KRYO)]
        if isinstance(inner, dict):
            inner[Rank(50)] = "new"
        else:
            inner.add(Rank(50))
        sent.append((KRYO, KRYO.encode(inner)))
        with pytest.raises(EncodeError, match="wrong order"):
            SERIALIZATION.encode(inner)
    assert sorted_java.found(sent) == ["found"] * len(sent)
