"""Keys and elements whose places in Python's hash tables form one chain are refused: each step is counted."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import cache
from typing import Any, NamedTuple
from uuid import UUID

import attrs
import pytest

from redisson_dq import java
from redisson_dq.codecs import (
    AvroJacksonCodec,
    CborJackson3Codec,
    CborJacksonCodec,
    Codec,
    IonJacksonCodec,
    JsonJackson3Codec,
    JsonJacksonCodec,
    Kryo5Codec,
    MsgPackJacksonCodec,
    ProtobufCodec,
    SerializationCodec,
    SmileJackson3Codec,
    SmileJacksonCodec,
    TypedJsonJackson3Codec,
    TypedJsonJacksonCodec,
)
from redisson_dq.codecs.hashes import Hashes
from redisson_dq.errors import DecodeError, EncodeError
from redisson_dq.java import java_class
from tests.conftest import by_night
from tests.unit.codecs.chains import Table, chain

MANY = 1_360  # near the most that a table of 2048 places holds
#: As docs/codecs.md says.
MOST_STEPS = 100_000 + 64 * MANY


@java_class("com.acme.chains.Numbered", serial_version_uid=1)
@attrs.frozen(eq=False)
class Numbered:
    number: int

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Numbered) and other.number == self.number

    def __hash__(self) -> int:
        return self.number


@java_class("com.acme.chains.Keyed", serial_version_uid=1)
@attrs.define
class Keyed:
    longs: dict[java.Long, int] = attrs.Factory(dict)
    amounts: dict[Decimal, int] = attrs.Factory(dict)
    ids: java.HashMap[UUID, int] = attrs.Factory(java.HashMap)
    days: set[java.Long] = attrs.Factory(set)
    rates: java.LinkedHashSet[float] = attrs.Factory(java.LinkedHashSet)


KEYS: dict[str, Callable[[int], Any]] = {
    "Integer": int,
    "Long": java.Long,
    "BigInteger": java.BigInteger,
    "Double": float,
    "BigDecimal": Decimal,
    "UUID": lambda number: UUID(int=number),
    "object": Numbered,
    "mixed": lambda number: (java.Long, float, Decimal)[number % 3](number),
}
CONTAINERS: dict[str, Callable[[list[Any]], Any]] = {
    "HashSet": lambda keys: java.Elements("java.util.HashSet", keys),
    "LinkedHashSet": lambda keys: java.Elements("java.util.LinkedHashSet", keys),
    "newKeySet": lambda keys: java.Elements("java.util.concurrent.ConcurrentHashMap$KeySetView", keys),
    "CopyOnWriteArraySet": lambda keys: java.Elements("java.util.concurrent.CopyOnWriteArraySet", keys),
    "Set.of": lambda keys: java.Elements("java.util.ImmutableCollections$SetN", keys),
    "LinkedHashMap": lambda keys: java.Entries("java.util.LinkedHashMap", [(key, 1) for key in keys]),
    "HashMap": lambda keys: java.Entries("java.util.HashMap", [(key, 1) for key in keys]),
    "Hashtable": lambda keys: java.Entries("java.util.Hashtable", [(key, 1) for key in keys]),
    "ConcurrentHashMap": lambda keys: java.Entries(
        "java.util.concurrent.ConcurrentHashMap", [(key, 1) for key in keys]
    ),
    "IdentityHashMap": lambda keys: java.Entries("java.util.IdentityHashMap", [(key, 1) for key in keys]),
    "Map.of": lambda keys: java.Entries("java.util.ImmutableCollections$MapN", [(key, 1) for key in keys]),
    "a list in a set": lambda keys: java.Elements("java.util.LinkedHashSet", [*keys, [1]]),
    "a list for a key": lambda keys: java.Entries("java.util.LinkedHashMap", [*((key, 1) for key in keys), ([1], 1)]),
    # Values whose class is determined by a declared field.
    "Keyed.longs": lambda keys: Keyed(longs=dict.fromkeys(keys, 1)),
    "Keyed.amounts": lambda keys: Keyed(amounts=dict.fromkeys(keys, 1)),
    "Keyed.ids": lambda keys: Keyed(ids=java.HashMap(dict.fromkeys(keys, 1))),
    "Keyed.days": lambda keys: Keyed(days=set(keys)),
    "Keyed.rates": lambda keys: Keyed(rates=java.LinkedHashSet(keys)),
}
#: The same numbers are no chain in a set, nor in a dict in the order of a HashMap.
ORDERED_OTHERWISE = ("HashSet", "Keyed.days", "Keyed.ids")
CODECS: tuple[Codec, ...] = (
    Kryo5Codec(),
    Kryo5Codec(references=True),
    SerializationCodec(),
    JsonJacksonCodec(),
    JsonJackson3Codec(),
    TypedJsonJacksonCodec(Keyed),
    TypedJsonJackson3Codec(Keyed),
    CborJacksonCodec(),
    CborJackson3Codec(),
    SmileJacksonCodec(),
    SmileJackson3Codec(),
    MsgPackJacksonCodec(),
    IonJacksonCodec(),
    AvroJacksonCodec(Any, '{"type": "array", "items": "long"}'),
    ProtobufCodec(Keyed),
    ProtobufCodec(dict),
)


class Case(NamedTuple):
    codec: Codec
    container: str
    kind: str

    def bytes_of(self, numbers: tuple[int, ...]) -> bytes:
        return self.codec.encode(CONTAINERS[self.container](list(map(KEYS[self.kind], numbers))))


def keys_in(value: Any) -> list[Any]:
    """The keys or elements of the largest container in a value."""
    if isinstance(value, Keyed):
        return max(map(keys_in, attrs.asdict(value, recurse=False).values()), key=len)
    if isinstance(value, java.Entries):
        return [key for key, _ in value]
    return [] if isinstance(value, str) else list(value)


def cases() -> list[Any]:
    """Those that a codec can write and reads as such keys.

    By day a codec has every second container, each with one kind of key in turn; the next codec has the others.
    """
    found: list[Any] = []
    for turn, codec in enumerate(CODECS):
        for place, container in enumerate(CONTAINERS):
            kinds = [kind for kind in KEYS if is_read(Case(codec, container, kind))]
            by_day = len(found) % max(len(kinds), 1)
            for number, kind in enumerate(kinds):
                case = Case(codec, container, kind)
                found.append(case if number == by_day and (turn + place) % 2 else by_night(case))
    return found


def is_read(case: Case) -> bool:
    try:
        value = case.codec.decode(case.bytes_of((1, 2, 3, 4)))
    except (EncodeError, DecodeError):
        return False
    keys = keys_in(value)
    return bool(keys) and type(value) is not list and isinstance(keys[0], type(KEYS[case.kind](1)))


def name_of(case: Any) -> str | None:
    return f"{case.codec!r} {case.container} of {case.kind}" if isinstance(case, Case) else None


CASES = cases()


@cache
def steps(hashes: tuple[int, ...], *, is_set: bool = False) -> int:
    return Table.grown(list(hashes), is_set=is_set).steps


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_a_chain_of_keys_is_refused_or_takes_few_steps(case: Case) -> None:
    numbers = chain(MANY)
    assert steps(numbers) > MOST_STEPS
    data = case.bytes_of(numbers)
    if case.container in ORDERED_OTHERWISE:
        value = case.codec.decode(data)
        assert steps(tuple(map(hash, keys_in(value))), is_set=case.container != "Keyed.ids") < MOST_STEPS
        return
    with pytest.raises(DecodeError, match="in one chain"):
        case.codec.decode(data)


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_ordinary_ids_are_no_chain(case: Case) -> None:
    numbers = tuple(number << (12 if case.kind == "Integer" else 22) for number in range(1, 320))
    keys = keys_in(case.codec.decode(case.bytes_of(numbers)))
    assert sorted(hash(key) for key in keys if key != [1]) == list(numbers)


@pytest.mark.parametrize("kind", [dict, set])
@pytest.mark.parametrize("stride", [1, 3, 1 << 12, 1 << 22, 1 << 48, 10**9 + 7])
@pytest.mark.parametrize("count", [300, 1_000, 5_000])
def test_the_steps_are_those_of_python(kind: type, stride: int, count: int) -> None:
    numbers = [number * stride for number in range(count)]
    is_set = kind is set
    table = Table.grown(list(map(hash, numbers)), is_set=is_set)
    if is_set:  # the order of a set is that of its places
        assert list(map(hash, set(numbers))) == [code for code in table.places if code is not None]
    hashes = Hashes()
    before = hashes.steps_left
    hashes.check(numbers, kind=kind)
    # The steps in a dict's small tables are not counted.
    few = 0 if is_set else Table.grown(list(map(hash, numbers[:170])), is_set=False).steps
    assert table.steps - (before + 64 * count - hashes.steps_left) == few
