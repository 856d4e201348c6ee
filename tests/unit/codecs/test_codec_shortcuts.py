"""The shortcuts of codecs: without them all values, bytes and errors are the same."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import gc
import random
import tracemalloc
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import attrs
import pytest

from redisson_dq import java
from redisson_dq.codecs import (
    Codec,
    JsonJackson3Codec,
    JsonJacksonCodec,
    Kryo5Codec,
    SerializationCodec,
    TypedJsonJackson3Codec,
    TypedJsonJacksonCodec,
)
from redisson_dq.errors import DecodeError, EncodeError
from redisson_dq.java import java_class
from tests.conftest import as_many, thinned
from tests.unit.codecs import acme
from tests.unit.codecs.long_way import take_shortcuts_away
from tests.unit.codecs.samples import SAMPLES
from tests.unit.codecs.vectors import vectors


@java_class("com.acme.shortcuts.Order", serial_version_uid=1)
@attrs.define
class Wide:
    """A field of each type that has a shortcut, and of some that have none."""

    flag: bool = False
    number: int = 0
    big: java.long = 0
    exact: float = 0.0
    small: java.short = 0
    maybe_flag: bool | None = None
    maybe_number: int | None = None
    maybe_big: java.Long | None = None
    maybe_exact: float | None = None
    text: str | None = None
    texts: list[str] | None = None
    numbers: list[java.Long] | None = None
    names: set[str] | None = None
    counts: dict[str, int] | None = None
    shares: dict[java.Long, float] | None = None
    amount: Decimal | None = None
    color: acme.Color | None = None
    customer: acme.Customer | None = None
    customers: list[acme.Customer] | None = None
    anything: object = None
    next: Wide | None = None


@java_class("com.acme.shortcuts.Strict", serial_version_uid=1)
@attrs.frozen
class Strict:
    number: int = attrs.field(converter=int)
    text: str = attrs.field()

    @text.validator
    def _check(self, _attribute: Any, value: str) -> None:
        if value == "bad":
            raise ValueError("a text that is refused")


@java_class("com.acme.shortcuts.Own", serial_version_uid=1)
@attrs.define(init=False)
class Own:
    """An ``__init__`` of the user's, with its arguments in another order."""

    number: int
    text: str

    def __init__(self, text: str, number: int = 3) -> None:
        self.number = number
        self.text = text + "!"


@java_class("com.acme.shortcuts.Returning", serial_version_uid=1)
@attrs.define(init=False)
class Returning:
    number: int

    def __init__(self, number: int) -> Any:  # type: ignore[misc]
        self.number = number
        return number or None


@java_class("com.acme.shortcuts.Late", serial_version_uid=1)
@dataclasses.dataclass
class Late:
    given: int = 0
    later: str | None = dataclasses.field(default=None, init=False)


_TYPES: tuple[Any, ...] = (int | None, str | None, java.Long | None, list[str] | None)
Hundred: Any = java_class("com.acme.shortcuts.Hundred")(
    attrs.make_class(
        "Hundred",
        {f"field_{n}": attrs.field(default=None, type=_TYPES[n % 4]) for n in range(100)},
    )
)


class Unsaid(acme.Customer):
    """A subclass that is not declared."""


class Text(str):
    pass


VALUES: list[Any] = [
    *(None, True, False, 0, 1, -1, 63, 64, -64, -65, 8191, 8192, 1 << 20, 2**31 - 1, -(2**31), 2**31, 2**63, 10**30),
    *(java.Long(5), java.Long(-70), java.Short(3), java.Integer(7), java.BigInteger(3)),
    *(0.0, -0.0, 1.5, float("nan"), float("inf"), java.Float(1.5), java.Double(2.5)),
    *("", "a", "ab", "x" * 32, "x" * 33, "x" * 70, "\u00e9", "a\u00e9", "\U0001f600", "\ud800", "\x00", Text("tt")),
    *([], ["a"], ["ab", "\u00e9", "x" * 40], ["a", None], [Text("aa")], ["a", 1], ["a"] * 70, ("a", "b"), [None]),
    *([1, -64, 64, 2**31 - 1, -(2**31)], [1, 2**31], [1, True], [7] * 70),
    *([java.Long(1), 2], [5, None], {"a"}, {"a": 1}, {"a": "b"}, {1: 2}, {}, {None: None}, Decimal("1.50")),
    *(java.LinkedList(["a"]), java.ListOf("xy"), java.ArrayAsList(["x", None]), java.HashMap({"k": 1})),
    *(acme.Customer("Ann", acme.Address("s", "c", 5)), acme.VipCustomer("v", None, 3, "z", 0.5), Unsaid("u")),
    *(acme.Order(), acme.Color.RED, acme.Planet.EARTH, acme.Point(1, 2), acme.Box("x"), acme.Box[str]("y")),
    *([acme.Customer("q")], [acme.Empty()] * 3, b"ab", object()),
    *(
        [acme.Color.RED, acme.Planet.EARTH],
        {acme.Color.RED: 1},
        {'k\u00e9"': [1.5, 1e300, 1e-9, -2.5]},
        ['"\\', "\n", "\x7f"],
    ),
    *(java.Throwable("java.lang.Error", "m"), [java.Throwable("java.lang.Error"), java.Throwable("a.B", "c")]),
    *({"ab": 1, "c": "xy", "d": "x" * 40, "e": -65, "f": 1 << 40}, {"a": 1, 2: "b", "\u00e9": 0.5, "": None}),
    *(
        {"k" * 33: java.Long(70), "l": java.Long(-3)},
        {f"k{n}": n for n in range(130)},
        java.HashMap({"kk": None, 3: "a"}),
    ),
    *({"e": java.Throwable("java.lang.Error"), "f": [1, java.Throwable("a.B")]}, java.TreeMap({"b": 1}), {"a": {1: 2}}),
]
CODECS: dict[str, Callable[[], Codec]] = {
    "Kryo": Kryo5Codec,
    "Kryo, references": functools.partial(Kryo5Codec, references=True),
    "Kryo, allowed": functools.partial(
        Kryo5Codec, ["com.acme.shortcuts.Order", "com.acme.Customer", "com.acme.Address", "java.util.ArrayList"]
    ),
    "Serialization": SerializationCodec,
    "Serialization, generic": functools.partial(SerializationCodec, unknown="generic"),
    "Json": JsonJacksonCodec,
    "Json, generic": functools.partial(JsonJacksonCodec, unknown="generic"),
    "Json 3": JsonJackson3Codec,
    "Json, typed": functools.partial(TypedJsonJacksonCodec, Wide),
    "Json 3, typed": functools.partial(TypedJsonJackson3Codec, Wide),
}


@pytest.fixture
def no_shortcuts(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Takes all shortcuts away, of the codecs that are made afterwards."""
    return functools.partial(take_shortcuts_away, monkeypatch)


def outcome(call: Callable[[Any], Any], given: Any) -> str:
    """What becomes of a call: the value with its types, or the error with its text, its place and its causes."""
    try:
        return shape(call(given))
    except (DecodeError, EncodeError) as error:
        causes, cause = [], error.__cause__
        while cause is not None:
            causes.append(type(cause).__name__)
            cause = cause.__cause__
        return f"{type(error).__name__} {error} {causes}"


def shape(value: Any, depth: int = 0) -> str:
    """The value with its types; what is deep in it, or in itself, is left out."""
    if depth > 12:
        return "..."
    inside = functools.partial(shape, depth=depth + 1)
    if type(value) in (list, tuple):
        return f"{type(value).__name__}[{', '.join(map(inside, value))}]"
    if type(value) is dict:
        return f"{{{', '.join(inside(key) + ':' + inside(item) for key, item in value.items())}}}"
    if attrs.has(type(value)) and type(value).__module__ in (__name__, acme.__name__):
        parts = (inside(getattr(value, field.name, "unset")) for field in attrs.fields(type(value)))
        return f"{type(value).__name__}({', '.join(parts)})"
    return f"{type(value).__name__} {value!r}"


def values() -> list[Any]:
    """Every value in every field, and graphs of them."""
    found: list[Any] = [*SAMPLES.values(), *(Strict(1, text) for text in ("good", "")), Own("x"), Returning(0), Late(5)]
    for name in (field.name for field in attrs.fields(Wide)):
        for value in VALUES:
            made = Wide()
            object.__setattr__(made, name, value)
            found.append(made)
    chance = random.Random(3)
    pool = [*VALUES, *found[-300:]]
    for _ in range(as_many(80, 600)):
        made = Wide()
        for name in ("texts", "text", "customer", "anything", "next", "numbers", "counts"):
            if chance.random() < 0.4:
                object.__setattr__(made, name, chance.choice(pool))
        found += [made, [chance.choice(pool) for _ in range(3)], {"a": chance.choice(pool), 1: chance.choice(pool)}]
        pool.append(made)
    unset = acme.Customer()
    del unset.name
    deep: list[Any] = []
    for depth in (99, 100, 101, 199, 200, 201):
        inner: Any = None
        for _ in range(depth):
            inner = Wide(anything=inner) if depth > 150 else Wide(anything=[inner])
        deep.append(inner)
    cycle = Wide()
    cycle.next = cycle
    return [
        *found,
        *VALUES,
        unset,
        *deep,
        cycle,
        Hundred(),
        Hundred(*(None, "x", java.Long(1), ["a"]) * 25),
        acme.Empty(),
    ]


def damaged(whole: list[bytes]) -> list[bytes]:
    """The bytes cut off anywhere, and changed at random."""
    chance = random.Random(11)
    found = []
    for data in whole:
        found += [data, *(data[:end] for end in range(len(data)) if len(data) < 70 or chance.random() < 20 / len(data))]
        for _ in range(8):
            changed = bytearray(data)
            for _ in range(chance.choice((1, 1, 2))):
                changed[chance.randrange(len(data))] = chance.choice((0, 1, 2, 0x80, 0xFF, chance.randrange(256)))
            found.append(bytes(changed))
    return found


@pytest.mark.parametrize("name", thinned(CODECS, of=4))
def test_without_shortcuts_all_is_the_same(name: str, no_shortcuts: Callable[[], None]) -> None:
    codec = CODECS[name]()
    given = values()
    written = [outcome(codec.encode, value) for value in given]
    known = {vector.data for vector in vectors(codec.name) if vector.data and len(vector.data) < 2_000}
    found = {*sorted(known)[:: as_many(1 + len(known) // 100, 1)]}
    for value in given[:: len(given) // as_many(200, 400)]:
        with contextlib.suppress(EncodeError):
            found.add(codec.encode(value))
    whole = damaged(sorted(found))
    read = [outcome(codec.decode, data) for data in whole]
    assert len({line for line in written if line.startswith("bytes")}) > 100
    assert sum(line.startswith("DecodeError") for line in read) > 500

    no_shortcuts()
    codec = CODECS[name]()
    for value, line in zip(given, written, strict=True):
        assert outcome(codec.encode, value) == line
    for data, line in zip(whole, read, strict=True):
        assert outcome(codec.decode, data) == line, data


def test_a_class_that_is_declared_anew_is_read_as_the_new_one() -> None:
    def declared(default: str) -> Any:
        @java_class("com.acme.shortcuts.Again", serial_version_uid=3)
        @attrs.define
        class Again:
            text: str | None = default

        return Again

    for codec in (Kryo5Codec(), JsonJacksonCodec(), SerializationCodec()):
        first = declared("first")
        holder = Wide(anything=first("x"), next=Wide(anything=first("y")))
        data = codec.encode(holder)
        assert type(codec.decode(data).anything) is first
        second = declared("second")
        assert type(codec.decode(data).anything) is second
        assert codec.encode(Wide(anything=second("x"), next=Wide(anything=second("y")))) == data


def test_an_init_that_is_replaced_is_the_one_that_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    def init(self: Any, **values: Any) -> None:
        self.text, self.number = values["text"], -1

    for codec in (Kryo5Codec(), JsonJacksonCodec(), SerializationCodec()):
        data = codec.encode(Own("x", 5))
        assert codec.decode(data).number == 5
        with monkeypatch.context() as patched:
            patched.setattr(Own, "__init__", init)
            assert codec.decode(data).number == -1


def test_what_an_init_returns_or_raises_is_an_error() -> None:
    broken = Returning(0)
    broken.number = 5
    for codec in (Kryo5Codec(), JsonJacksonCodec()):
        with pytest.raises(DecodeError, match="Returning cannot be made: TypeError"):
            codec.decode(codec.encode(broken))
        data = codec.encode(Strict(1, "good")).replace(b"goo", b"ba")
        with pytest.raises(DecodeError, match="Strict cannot be made: ValueError: a text that is refused"):
            codec.decode(data)


def test_a_class_whose_bytes_refer_to_its_own_texts_is_known_at_that_place_only() -> None:
    codec = SerializationCodec()
    address = acme.Address("s", "c", 5)
    assert codec.decode(codec.encode(address)) == address  # the text is the second thing with a handle
    data = codec.encode([address])  # and here the fourth
    assert codec.decode(data) == [address]
    damaged = data.replace(b"\x71\x00\x7e\x00\x03", b"\x71\x00\x7e\x00\x01")
    assert damaged != data
    with pytest.raises(DecodeError, match="a text is missing"):
        codec.decode(damaged)


def test_classes_that_are_sent_to_fill_the_memory_do_not_and_leave_room() -> None:
    codec = SerializationCodec(unknown="generic")
    data = SerializationCodec().encode([acme.Point(1, 2)])

    def read(numbers: range) -> int:
        gc.collect()
        before, _ = tracemalloc.get_traced_memory()
        for number in numbers:
            name = f"com.acme.P{number:04d}".encode()
            assert type(codec.decode(data.replace(b"com.acme.Point", name))[0]) is java.JavaObject
        gc.collect()
        return tracemalloc.get_traced_memory()[0] - before

    tracemalloc.start()
    try:
        few = read(range(300))
        # As many as are known at a time, and no more.
        assert read(range(300, 2_000)) < 2 * few
    finally:
        tracemalloc.stop()
    assert codec.decode(data) == [acme.Point(1, 2)]


def test_more_keys_than_are_remembered_are_written_alike() -> None:
    codec = Kryo5Codec()
    for key in [*(f"key {number}" for number in range(2_500)), "k" * 32, "k" * 33, "", "é", "\U0001f600", "\0"]:
        first, again = codec.encode({key: 1}), codec.encode({key: 2})
        assert first[:-1] == again[:-1]
        assert codec.decode(first) == {key: 1}
        # As the text is written where it is no key.
        assert codec.encode({1: key}).endswith(codec.encode(key))
        assert codec.encode(key) in first


@pytest.mark.parametrize(
    ("data", "why"),
    [(b"\x03\x82", "1 characters are announced, 0 bytes are there"), (b"\x03\x82\x80", "in the middle of the value")],
)
def test_a_text_of_one_character_that_is_missing_or_no_character(data: bytes, why: str) -> None:
    with pytest.raises(DecodeError, match=why):
        Kryo5Codec().decode(data)
