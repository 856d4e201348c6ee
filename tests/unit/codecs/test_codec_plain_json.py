"""JsonCodec: Python's own classes as plain JSON, without a word of Java."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum
from typing import Any, Generic, NamedTuple, TypeVar, Union
from uuid import UUID

import attrs
import msgspec
import pydantic
import pytest
from typing_extensions import TypedDict

from redisson_dq.codecs import JsonCodec, Kryo5Codec, StringCodec, ZStdCodec
from redisson_dq.errors import ArgumentError, DecodeError, EncodeError
from tests.conftest import environment
from tests.unit.codecs.golden_rows import caught_from

T = TypeVar("T")
DUE = datetime(2027, 1, 1, 12, 30, 0, 250_000, tzinfo=timezone.utc)


class Color(Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Line:
    sku: str
    price: Decimal = Decimal("1.50")
    count: int = 1


@dataclass
class Order:
    id: int
    due: datetime
    key: UUID
    color: Color
    lines: list[Line] = field(default_factory=list)
    note: str | None = None
    tags: set[str] = field(default_factory=set)
    extra: Union[int, str, None] = None
    by_day: dict[date, int] = field(default_factory=dict)
    data: bytes = b""
    later: timedelta | None = None


@attrs.frozen
class Address:
    street: str
    zip: int | None = None


class Customer(pydantic.BaseModel):
    name: str
    address: Line | None = None
    since: datetime | None = None


class Point(NamedTuple):
    x: int
    y: float


class Tag(TypedDict):
    name: str


class Job(msgspec.Struct):
    name: str
    after: datetime


@dataclass
class Page(Generic[T]):
    items: list[T]


@dataclass
class Card:
    number: str


@dataclass
class Invoice:
    iban: str


@dataclass
class WithModel:
    customer: Customer


ORDER = Order(
    id=2**40,
    due=DUE,
    key=UUID(int=7),
    color=Color.BLUE,
    lines=[Line("a"), Line("b", Decimal("0.10"), 3)],
    tags={"x", "a", "m"},
    extra="text",
    by_day={date(2027, 1, 1): 5},
    data=b"\0\xff",
    later=timedelta(seconds=90),
)
VALUES: list[tuple[Any, Any]] = [
    (Order, ORDER),
    (Address, Address("Main St 1")),
    (Customer, Customer(name="Ann", address=Line("a"), since=DUE)),
    (list[Customer], [Customer(name="Ann")]),
    (WithModel, WithModel(Customer(name="Ann"))),
    (Point, Point(1, 2.5)),
    (Tag, {"name": "new"}),
    (Job, Job("a", DUE)),
    (Page[Order], Page([ORDER])),
    (list[Order], [ORDER, ORDER]),
    (dict[str, Line], {"a": Line("a")}),
    (dict[int, Line], {1: Line("a")}),
    (tuple[int, str], (1, "a")),
    (Line | None, None),
    (Union[Line, int], 5),
    (Union[Card, Invoice], Invoice("DE1")),
    (Union[Card, Invoice], Card("4111")),
    (Decimal, Decimal("1E+3")),
    (datetime, DUE),
    (UUID, UUID(int=1)),
    (Color, Color.RED),
    (float, 5),
    (Any, {"a": [1, 2.5, None, True, "x"]}),
    (None, {"a": [1, 2.5, None, True, "x"]}),
]


@pytest.mark.parametrize(("kind", "value"), VALUES, ids=[str(kind) for kind, _ in VALUES])
def test_a_value_comes_back_equal_and_of_its_type(kind: Any, value: Any) -> None:
    codec: JsonCodec[Any] = JsonCodec(kind)
    data = codec.encode(value)
    back = codec.decode(data)
    assert back == value
    assert type(back) is type(value) or (kind, type(back)) == (float, float)
    assert codec.encode(back) == data
    json.loads(data)


def test_it_is_json_that_others_read() -> None:
    assert JsonCodec(Line).encode(Line("a", Decimal("0.10"))) == b'{"sku":"a","price":"0.10","count":1}'
    assert b'"due":"2027-01-01T12:30:00.250000Z"' in JsonCodec(Order).encode(ORDER)


def test_equal_values_have_equal_bytes_in_every_process() -> None:
    program = (
        "from tests.unit.codecs.test_codec_plain_json import ORDER, Order; from redisson_dq.codecs import JsonCodec\n"
        "print(JsonCodec(Order).encode(ORDER).hex())"
    )
    for seed in ("1", "2"):
        run = [sys.executable, "-c", program]
        found = subprocess.run(
            run, capture_output=True, text=True, check=True, env={**environment(), "PYTHONHASHSEED": seed}
        )
        assert bytes.fromhex(found.stdout) == JsonCodec(Order).encode(ORDER)


@pytest.mark.parametrize(
    ("kind", "value", "path"),
    [
        (Line, Line("a", count="3"), "$.count"),  # type: ignore[arg-type]
        (Line, Line(5), "$.sku"),  # type: ignore[arg-type]
        (Line, {"sku": "a"}, "$"),
        (Line, ORDER, "$"),
        (list[Line], [Line("a"), Line("b", count=2.5)], "$[1].count"),  # type: ignore[arg-type]
        (list[int], (1, 2), "$"),
        (int, True, "$"),
        (int, "5", "$"),
        (str, "half \ud800", "$"),
        (float, float("nan"), "$"),
        (float, float("inf"), "$"),
        (Order, None, "$"),
        (Customer, {"name": "Ann"}, "$"),
        (Union[Card, Invoice], Line("a"), "$"),
        (None, Line("a"), "$"),
        (None, (1, 2), "$"),
        (None, {1: 2}, "$"),
        (None, object(), "$"),
    ],
)
def test_another_value_is_refused_when_it_is_offered(kind: Any, value: Any, path: str) -> None:
    with pytest.raises(EncodeError, match=r"^JsonCodec: .* is not a value of ") as caught:
        JsonCodec(kind).encode(value)
    assert (caught.value.codec, caught.value.path) == ("JsonCodec", path)


@pytest.mark.parametrize(
    ("kind", "data", "text"),
    [
        (Line, b'{"sku":5}', r"Expected `str`, got `int` \(at \$\.sku\)"),
        (list[Line], b'[{"sku":"a"},{}]', r"missing required field `sku` \(at \$\[1\]\)"),
        (Order, b'{"id":1,"due":"tomorrow"}', r"Invalid RFC3339 encoded datetime \(at \$\.due\)"),
        (Color, b'"green"', r"Invalid enum value 'green'"),
        (Customer, b'{"name":"a","address":{"sku":1}}', r"valid string \(at \$\.address\.sku\)"),
        (Customer, b'{"name":"a","address":{"sku":"a","count":"1"}}', r"valid integer \(at \$\.address\.count\)"),
        (Line, b'{"sku":"a"', "truncated"),
        (Line, b"\xac\xed\0\5t\0\1a", "malformed"),
        (Line, b"", "truncated"),
        (Line, b'{"sku":"a"} x', "malformed"),
    ],
)
def test_bytes_that_are_no_such_value(kind: Any, data: bytes, text: str) -> None:
    with pytest.raises(DecodeError, match=text) as caught:
        JsonCodec(kind).decode(data)
    assert (caught.value.codec, caught.value.data) == ("JsonCodec", data)
    assert 0 <= caught.value.offset <= len(data)


def test_errors_do_not_show_values() -> None:
    secret = "4111-1111"
    for broken in (
        lambda: JsonCodec(Customer).decode(b'{"name":["4111-1111"]}'),
        lambda: JsonCodec(Customer).encode({"name": secret}),  # type: ignore[arg-type]
        lambda: JsonCodec(Line).decode(b'{"sku":["4111-1111"]}'),
    ):
        error = caught_from(broken)
        assert isinstance(error, (DecodeError, EncodeError))
        assert secret not in str(error)


def test_a_class_may_grow_while_both_versions_run() -> None:
    assert JsonCodec(Line).decode(b'{"sku":"a","unknown":{"b":1}}') == Line("a")
    assert JsonCodec(Customer).decode(b'{"name":"a","unknown":1}') == Customer(name="a")


class Plain:
    pass


@pytest.mark.parametrize("kind", [Plain, object, Union[Address, Line, Plain], list[complex]])
def test_a_type_that_no_library_knows(kind: Any) -> None:
    error = caught_from(lambda: JsonCodec(kind).encode(kind))
    assert isinstance(error, (ArgumentError, EncodeError))


def test_without_the_library_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "msgspec", None)
    with pytest.raises(ArgumentError, match=r"pip install 'msgspec>="):
        JsonCodec(Line)


def test_it_can_be_compressed() -> None:
    codec = ZStdCodec(JsonCodec()).typed(Order)
    assert codec.decode(codec.encode(ORDER)) == ORDER
    with pytest.raises(EncodeError, match=r"is not a value of Order"):
        codec.encode(Line("a"))


def test_its_name_says_its_type() -> None:
    assert repr(JsonCodec()) == "JsonCodec()"
    assert repr(JsonCodec(Line)) == "JsonCodec(Line)"
    assert repr(JsonCodec(list[Line])).startswith("JsonCodec(list[")


@pytest.mark.parametrize("make", [StringCodec, lambda: ZStdCodec(StringCodec())])
def test_codecs_of_one_type_take_no_other(make: Callable[[], Any]) -> None:
    with pytest.raises(ArgumentError, match=r"leave type=.* out"):
        make().typed(Line)


def test_the_default_codec_names_the_one_for_python_alone() -> None:
    with pytest.raises(ArgumentError, match=r"has no Java type.* codec=JsonCodec\(\)"):
        Kryo5Codec().typed(Line)
