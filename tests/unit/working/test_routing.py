"""Which handler gets a value, and which of its arguments a handler asks for."""

from __future__ import annotations

import functools
import re
import typing
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Generic, Literal, Protocol, TypedDict, TypeVar, Union

import attrs
import pytest

from redisson_dq.errors import ArgumentError
from redisson_dq.working.handlers import Handler, Shape, declared, is_async
from redisson_dq.working.retries import Retry
from redisson_dq.working.routing import Unroutable, choose

T = TypeVar("T")


@attrs.frozen
class Order:
    kind: str = "sale"


class BigOrder(Order):
    pass


class Refund:
    pass


def nothing(value: Any) -> None:
    pass


def handler(type: Any = None, batch: int | None = None, within: float = 0, **options: Any) -> Handler:
    function, queue = options.pop("function", nothing), options.pop("queue", "orders")
    return declared(function, queue, type, batch, within, **options)


def test_the_class_decides() -> None:
    orders, refunds = handler(Order), handler(Refund)
    table = [orders, refunds]
    assert choose(table, Order()) is orders
    assert choose(table, Refund()) is refunds
    assert choose(table, "neither") is None
    assert choose([], Order()) is None


def test_the_nearest_class_decides() -> None:
    any_, orders, big = handler(), handler(Order), handler(BigOrder)
    for table in ([any_, orders, big], [big, orders, any_], [orders, any_, big]):
        assert choose(table, BigOrder()) is big
        assert choose(table, Order()) is orders
        assert choose(table, Refund()) is any_
    assert choose([handler(object)], None) is not None
    # Of equal ones the first.
    first, second = handler(Order), handler(Order)
    assert choose([first, second], Order()) is first


def test_a_bool_is_no_int_where_both_are_declared() -> None:
    ints, bools = handler(int), handler(bool)
    assert choose([ints, bools], True) is bools
    assert choose([ints, bools], 1) is ints


@pytest.mark.parametrize(
    ("kind", "taken", "left"),
    [
        (list[Order], [[], [Order()], [Order(), BigOrder()]], [Order(), [Refund()], [Order(), None], (Order(),)]),
        (list[Order | None], [[Order(), None]], [[Refund()], None]),
        (set[int], [{1, 2}], [{"a"}, [1]]),
        (dict[str, Order], [{}, {"a": Order()}], [{"a": 1}, {1: Order()}, [Order()]]),
        (dict[str, list[Order]], [{"a": [Order()]}], [{"a": [1]}]),
        (tuple[str, Order], [("a", Order())], [("a",), (Order(), "a"), ("a", Order(), 1), ["a", Order()]]),
        (tuple[int], [(1,)], [(1, 2), ()]),
        (tuple[int, ...], [(), (1, 2)], [("a",), (1, "a")]),
        (Order | str, [Order(), BigOrder(), "a"], [Refund(), None, 5]),
        (Union[Order, list[Refund]], [Order(), [Refund()]], [[Order()], Refund()]),
        (Union[Order, None], [Order(), None], ["a"]),
        (typing.List[Any], [[1, "a"]], [(1,)]),  # noqa: UP006
        (Sequence[int], [[1], (1, 2), range(3)], [{1}, "a"]),
        (Annotated[Order, "the shop's"], [Order()], ["a"]),
        (None, [None, 1], []),
        (Union[Any, int], ["a", 1], []),
    ],
)
def test_elements_and_alternatives_decide(kind: Any, taken: list[Any], left: list[Any]) -> None:
    only = handler(kind)
    assert [value for value in taken if choose([only], value) is not only] == []
    assert [value for value in left if choose([only], value) is not None] == []


def test_the_one_that_says_more_of_the_elements_is_nearer() -> None:
    lists, orders, either = handler(list), handler(list[Order]), handler(Order | list[Refund])
    table = [lists, orders, either]
    assert choose(table, [Order()]) is orders
    assert choose(table, [Refund()]) is either
    assert choose(table, ["a"]) is lists
    # The nearest class of several counts.
    assert choose([handler(Order | int), big := handler(BigOrder | str)], BigOrder()) is big


class Box(Generic[T]):
    pass


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (Box[Order], "give only the class, Box"),
        (Iterator[Order], "give only the class, Iterator"),
        (list[Box[Order]], "give only the class, Box"),
        (Union[Order, "Refund"], "such as Order, list[Order] or Order | str"),
        (Literal["a"], "such as Order, list[Order] or Order | str"),
        (5, "such as Order, list[Order] or Order | str"),
    ],
)
def test_what_no_value_tells_is_refused_when_it_is_declared(kind: Any, text: str) -> None:
    with pytest.raises(ArgumentError, match=re.escape(text)) as caught:
        handler(kind)
    assert str(caught.value).startswith("handler 'nothing' of queue 'orders': ")


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (None, "any value"),
        (Order, "Order"),
        (list[Order], "list[Order]"),
        (Order | dict[str, int] | None, "Order | dict[str, int] | None"),
        (Union[tuple[int, ...], None], "tuple[int, ...] | None"),
    ],
)
def test_the_check_shows_it_as_it_was_written(kind: Any, text: str) -> None:
    assert handler(kind).kind.text == text


def test_a_field_decides() -> None:
    refunds, sales, rest = handler(where={"kind": "refund"}), handler(where={"kind": "sale", "size": 2}), handler()
    table = [rest, refunds, sales]
    assert choose(table, {"kind": "refund"}) is refunds
    assert choose(table, Order("refund")) is refunds
    assert choose(table, {"kind": "sale", "size": 2}) is sales
    assert choose(table, {"kind": "sale"}) is rest
    assert choose(table, "text") is rest
    # A value without the field is not one whose field is None.
    assert choose([handler(where={"kind": None})], {}) is None


def test_a_field_and_a_class_decide() -> None:
    refunds = handler(Order, where={"kind": "refund"})
    assert choose([refunds], Order("refund")) is refunds
    assert choose([refunds], {"kind": "refund"}) is None


def test_a_function_decides() -> None:
    large, rest = handler(int, when=lambda number: number > 10), handler(int)
    assert choose([rest, large], 11) is large
    assert choose([rest, large], 10) is rest
    # It is not asked for values of other classes.
    assert choose([large], "text") is None


def test_a_function_that_fails_is_told() -> None:
    broken = handler(when=lambda value: value["missing"])
    with pytest.raises(Unroutable, match="KeyError") as caught:
        choose([broken], {})
    assert caught.value.handler is broken


class Broken:
    @property
    def kind(self) -> str:
        raise ZeroDivisionError


class KindOfClass(type):
    def __instancecheck__(cls, value: Any) -> bool:
        return value is not None and value.kind == "refund"


class RefundByKind(metaclass=KindOfClass):
    pass


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"type": RefundByKind}, "the class of nothing failed: ZeroDivisionError"),
        ({"where": {"kind": "refund"}}, "where= of nothing failed: ZeroDivisionError"),
        ({"when": lambda value: value.kind}, "when= of nothing failed: ZeroDivisionError"),
    ],
)
def test_a_field_that_fails_is_told(options: dict[str, Any], message: str) -> None:
    broken = handler(**options)
    with pytest.raises(Unroutable, match=message) as caught:
        choose([broken], Broken())
    assert caught.value.handler is broken


class Shipment(TypedDict):
    id: int


class HasId(Protocol):
    id: int


def test_what_a_function_takes() -> None:
    def value_only(value: Any) -> None: ...
    def with_event(value: Any, event: Any) -> None: ...
    def with_needs(value: Any, event: Any, session: Any, *, pool: Any) -> None: ...
    def with_defaults(value: Any, event: Any, times: int = 3) -> None: ...
    def own_default(value: Any, times: int = 3) -> None: ...
    def any_number(*args: Any) -> None: ...

    shapes = {each: Shape.of(each, "x", 2) for each in (value_only, with_event, with_needs, with_defaults, any_number)}
    assert not shapes[value_only].takes_event
    assert shapes[with_event] == Shape(takes_event=True, needs=())
    assert shapes[with_needs] == Shape(takes_event=True, needs=("session", "pool"))
    assert shapes[with_defaults] == Shape(takes_event=True, needs=())
    assert not Shape.of(own_default, "x", 2).takes_event
    assert shapes[any_number].takes_event
    assert Shape.of(lambda value, event=None: None, "x", 2).takes_event
    assert Shape.of(functools.partial(with_needs, pool=1), "x", 2).needs == ("session",)
    assert Shape.of(print, "x", 2).takes_event

    def none_at_all() -> None: ...
    def only_by_place(value: Any, event: Any, session: Any, /) -> None: ...

    with pytest.raises(ArgumentError, match="takes the value"):
        Shape.of(none_at_all, "x", 2)
    with pytest.raises(ArgumentError, match="session"):
        Shape.of(only_by_place, "x", 2)


def test_what_is_awaited() -> None:
    async def awaits(value: Any) -> None: ...

    class Callable:
        async def __call__(self, value: Any) -> None: ...

    class Method:
        async def handle(self, value: Any) -> None: ...

    for function in (awaits, functools.partial(awaits), Callable(), functools.partial(Callable()), Method().handle):
        assert is_async(function)
    for plain in (nothing, functools.partial(nothing), print, Order):
        assert not is_async(plain)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"queue": 5}, "name of a queue"),
        ({"function": "no function"}, "function"),
        ({"type": "Order"}, "class"),
        ({"type": Shipment}, "class .*TypedDict does not support"),
        ({"type": HasId}, "class .*runtime_checkable"),
        ({"where": [("kind", 1)]}, "where="),
        ({"where": {1: 2}}, "where="),
        ({"when": "kind"}, "when="),
        ({"on_failed": 5}, "on_failed="),
        ({"concurrency": 0}, "concurrency="),
        ({"concurrency": 1.0}, "concurrency="),
        ({"timeout": 0}, "timeout="),
        ({"timeout": -1}, "timeout="),
        ({"timeout": "1"}, "timeout="),
        ({"crash_limit": 0}, "crash_limit="),
        ({"batch": 0}, "batch"),
        ({"batch": 1001}, "batch"),
        ({"batch": 5, "within": -1}, "within="),
        ({"retry": 3}, "retry="),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        handler(**options)


def test_a_handler_as_it_was_declared() -> None:
    made = handler(Order, retry=[Retry(limit=3)], timeout=2, batch=5, within=0.2)
    assert (made.name, made.queue, made.kind.text, made.timeout, made.batch, made.within) == (
        "nothing",
        "orders",
        "Order",
        2.0,
        5,
        0.2,
    )
