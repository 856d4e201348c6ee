"""What Kotlin's own classes and functions make, as a real Kotlin wrote it: tests/vectors/kotlin-*.jsonl."""

from __future__ import annotations

import json
from typing import Any

import pytest

from redisson_dq import java
from redisson_dq.codecs import JsonJacksonCodec, TypedJsonJacksonCodec
from redisson_dq.errors import DecodeError, EncodeError
from redisson_dq.java import kotlin
from tests.unit.codecs.kotlin_shop import (
    Account,
    Attempt,
    Cancelled,
    CharRange,
    Circle,
    Doubled,
    Drawing,
    Err,
    Feed,
    Geo,
    Id,
    IntRange,
    Late,
    Lazily,
    Level,
    Line,
    Lvl,
    Never,
    Ok,
    Order,
    Placed,
    Ranges,
    Report,
    Reset,
    Sign,
    Square,
    UInt,
    Unit,
)
from tests.unit.codecs.specs import codec_of
from tests.vector_files import FOLDER
from tests.versions import NEWEST

VECTORS = FOLDER / f"kotlin-{NEWEST}.jsonl"
ROWS = [json.loads(line) for line in VECTORS.read_text("utf-8").splitlines()[1:]]

GEO = Geo(52.5, 13.4)


def order(id: int, **values: Any) -> Order:
    """With what Kotlin's default arguments give."""
    given: dict[str, Any] = {
        "lines": kotlin.EmptyList(),
        "tags": kotlin.EmptySet(),
        "prices": kotlin.EmptyMap(),
        "level": Level.LOW,
        "lvl": Lvl.NONE,
        "parent": None,
        "state": "new",
    }
    return Order(id, **{**given, **values})


SAMPLES: dict[str, Any] = {
    "empty-list": kotlin.EmptyList(),
    "empty-set": kotlin.EmptySet(),
    "empty-map": kotlin.EmptyMap(),
    "empties": [kotlin.EmptyList(), kotlin.EmptySet(), kotlin.EmptyMap(), kotlin.EmptyList()],
    "list-of-one": java.SingletonList(["a"]),
    "list-of-two": java.ArrayAsList(["a", 1]),
    "set-of-one": java.SingletonSet(["a"]),
    "set-of-two": java.LinkedHashSet(["a", "b"]),
    "map-of-one": java.SingletonMap({"a": 1}),
    "map-of-two": {"a": 1, "b": 2},
    "build-list": kotlin.ListBuilder(["a", 1]),
    "build-set": kotlin.SetBuilder(["a", "b"]),
    "build-map": kotlin.MapBuilder({"a": 1, "b": 2}),
    "array-deque": kotlin.ArrayDeque(["a", "b"]),
    "enum": Level.HIGH,
    "enum-body": Lvl.HIGH,
    "enum-no-body": Lvl.NONE,
    "enum-bodies": [Lvl.HIGH, Lvl.LOW, Lvl.HIGH, Lvl.NONE, Sign.MINUS],
    "enum-keys": java.HashMap({"a": Lvl.LOW}),
    "order": order(
        5,
        lines=java.ArrayAsList([Line("A", 2, "n"), Line("B", 1)]),
        tags=java.LinkedHashSet(["x", "y"]),
        prices={"A": 1.5, "B": 2.0},
        level=Level.HIGH,
        lvl=Lvl.HIGH,
        parent=7,
    ),
    "order-defaults": order(1),
    "order-one": order(
        2,
        lines=java.SingletonList([Line("A", 1)]),
        tags=java.SingletonSet(["x"]),
        prices=java.SingletonMap({"A": 1.0}),
        lvl=Lvl.LOW,
    ),
    "placed": Placed(9, order(3)),
    "cancelled": Cancelled(8, None),
    "data-object": Never(),
    "object": Reset(),
    "object-doubled": Doubled(),
    "events": [Cancelled(1, "late"), Never(), Reset()],
    "drawing": Drawing(
        Circle(1.5), java.ArrayAsList([Circle(1.0), Square(2)]), java.SingletonMap({"s": Square(3)}), Circle(2.0)
    ),
    "report": Report(
        Ok(GEO, [GEO]),
        Ok(Level.HIGH, kotlin.EmptyList()),
        kotlin.Pair(GEO, Level.LOW),
        kotlin.Triple("a", java.Long(5), GEO),
        [Err("late"), Ok(Level.LOW, [Level.HIGH])],
    ),
    "pair": kotlin.Pair("a", 1),
    "triple": kotlin.Triple("a", java.Long(5), GEO),
    "value-class": Id("i"),
    "account": Account("i", 4_000_000_000 - (1 << 32), 5, 200 - (1 << 8), "m", UInt(6), [Id("x")], [UInt(7)]),
    "account-nulls": Account("i", 1, 2, 3, None, None, [], []),
    "uint": UInt(4_000_000_000 - (1 << 32)),
    "lazily": Lazily(3, kotlin.Lazy("seed 3")),
    "lazily-not-yet": Lazily(4, kotlin.Lazy("seed 4")),
    "attempt": Attempt(GEO),
    "ranges": Ranges(IntRange(1, 5, 1), CharRange("a", "c", 1), 3_000_000_000, Unit()),
    "feed": Feed(kotlin.ArrayDeque(["a", "b"]), kotlin.ArrayDeque([GEO])),
    "late": Late("n", GEO, ["a"]),
}


MODULE = "+KotlinModule"
#: Where Kotlin's bytes differ from those of Python's value of the same. Kryo names the class of a constant with a body,
#: a HashMap of Kotlin's has another capacity, and Jackson's getters give more than the fields.
WRITTEN_OTHERWISE = {
    "Kryo5Codec": {"enum-body", "enum-bodies", "enum-keys", "order", "order-one"},
    "SerializationCodec": {"set-of-two", "map-of-two", "enum-keys", "order", "drawing"},
    **{f"{name}JacksonCodec": {"ranges"} for name in ("Json", "MsgPack", "Cbor", "Smile", "Ion")},
    "JsonJackson3Codec": {
        *("order", "order-defaults", "order-one", "placed", "data-object", "object", "object-doubled", "events"),
        *("account", "account-nulls", "uint", "attempt", "ranges", "lazily", "lazily-not-yet"),
    },
}
#: Jackson 3 writes the properties of value classes by the names of their getters, as "balance-pVg5ArA".
LOST = {
    "JsonJackson3Codec": {
        *("account", "account-nulls", "uint", "attempt", "ranges", "lazily", "lazily-not-yet"),
    }
}


def rows(*, module: bool) -> dict[str, list[tuple[str, Any, bytes]]]:
    """By codec: names, values and bytes. Jackson's values are in a list, as a whole value has no class there."""
    found: dict[str, list[tuple[str, Any, bytes]]] = {}
    for row in ROWS:
        codec, name = row["codec"], row["name"].removeprefix("in-list/")
        in_list = name != row["name"]
        if "hex" not in row or name not in SAMPLES or codec.endswith(MODULE) != module:
            continue
        if in_list or "Jackson" not in codec:
            value = [SAMPLES[name]] if in_list else SAMPLES[name]
            found.setdefault(codec, []).append((name, value, bytes.fromhex(row["hex"])))
    return found


PLAIN = rows(module=False)


@pytest.mark.parametrize("codec", PLAIN)
def test_values_of_kotlin(codec: str) -> None:
    ours = codec_of(codec, NEWEST)
    assert len(PLAIN[codec]) >= 30
    # The repr distinguishes an EmptyList from a list.
    unequal = {name for name, value, data in PLAIN[codec] if repr(ours.decode(data)) != repr(value)}
    assert unequal == LOST.get(codec, set())
    otherwise = {name for name, value, data in PLAIN[codec] if ours.encode(value) != data}
    assert otherwise == WRITTEN_OTHERWISE[codec]


def test_json_of_the_kotlin_module() -> None:
    (found,) = rows(module=True).values()
    values = {name: (value, data) for name, value, data in found}
    del values["account"], values["value-class"], values["ranges"]  # it writes UInt as a number, Id as a text
    assert len(values) > 30
    for value, data in values.values():
        assert JsonJacksonCodec().decode(data) == value


TYPES = {"order": Order, "order-defaults": Order, "account-nulls": Account, "cancelled": Cancelled}


def test_typed_json_of_the_kotlin_module() -> None:
    found = {row["name"]: row for row in ROWS if row["codec"] == "TypedJsonJacksonCodec" + MODULE}
    for name, kind in TYPES.items():
        ours = TypedJsonJacksonCodec(kind)
        value = ours.decode(bytes.fromhex(found[name]["hex"]))
        assert value == ours.decode(ours.encode(SAMPLES[name]))
        assert found[name]["sameBack"] is True  # and Kotlin reads it


@pytest.mark.parametrize("name", ["order", "cancelled", "drawing", "report", "pair", "late"])
def test_json_of_a_whole_value_of_a_final_class(name: str) -> None:
    (row,) = (row for row in ROWS if (row["codec"], row["name"]) == ("JsonJacksonCodec", name))
    assert "decodeError" in row  # by Kotlin itself
    with pytest.raises(DecodeError, match="an object without @class"):
        JsonJacksonCodec().decode(bytes.fromhex(row["hex"]))


@pytest.mark.parametrize("codec", ["Kryo5Codec", "SerializationCodec", "JsonJacksonCodec"])
@pytest.mark.parametrize("value", [kotlin.EmptyList([1]), kotlin.EmptySet([1]), kotlin.EmptyMap({"a": 1})], ids=repr)
def test_an_empty_collection_with_elements(codec: str, value: Any) -> None:
    with pytest.raises(EncodeError, match=r"a kotlin\.collections\.Empty.* with 1 elements"):
        codec_of(codec, NEWEST).encode(value)


def test_a_range_without_its_numbers_is_an_error() -> None:
    rows = {row["codec"]: bytes.fromhex(row["hex"]) for row in ROWS if row["name"] == "in-list/ranges" and "hex" in row}
    (read,) = JsonJacksonCodec().decode(rows["JsonJacksonCodec"])
    assert (read.range, read.chars) == (IntRange(1, 5, 1), CharRange("a", "c", 1))
    with pytest.raises(DecodeError, match=r"kotlin.ranges.CharRange without all of its numbers: Kotlin's module"):
        JsonJacksonCodec().decode(rows["JsonJacksonCodec+KotlinModule"])
