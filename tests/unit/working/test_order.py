"""Which queue is asked first, when slots are few."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from redisson_dq.errors import ArgumentError
from redisson_dq.working.order import Order, order_of


def served(order: Order, ready: dict[str, int], rounds: int, at_once: int = 1) -> Counter[str]:
    """How many values each queue delivered, given how many it has."""
    left, given = dict(ready), Counter[str]()
    for _ in range(rounds):
        idle: list[str] = []
        for name in order.sorted(list(left)):
            count = min(at_once, left[name])
            if count:
                left[name] -= count
                given[name] += count
                order.took(name, count, idle)
                break
            idle.append(name)
    return given


def test_strict() -> None:
    order = order_of(["high", "low"])
    assert served(order, {"low": 100, "high": 30, "other": 10}, 30) == {"high": 30}
    assert served(order, {"low": 100, "high": 30, "other": 10}, 135) == {"high": 30, "low": 100, "other": 5}


def test_weighted() -> None:
    given = served(order_of({"high": 6, "low": 3}), {"high": 10_000, "low": 10_000, "other": 10_000}, 1000)
    assert given == {"high": 600, "low": 300, "other": 100}


def test_weighted_however_many_come_at_once() -> None:
    given = served(order_of({"high": 3, "low": 1}), {"high": 10_000, "low": 10_000}, 400, at_once=8)
    assert sum(given.values()) == 3200
    assert abs(given["high"] - 2400) <= 8


def test_equal_turns_without_an_order() -> None:
    assert served(order_of(None), {"a": 100, "b": 100, "c": 100}, 90) == {"a": 30, "b": 30, "c": 30}


def test_a_queue_that_had_nothing_does_not_catch_up() -> None:
    order = order_of({"high": 1, "low": 1})
    assert served(order, {"high": 1000, "low": 0}, 1000) == {"high": 1000}
    given = served(order, {"high": 100, "low": 100}, 20)
    assert given["high"] >= 9


def test_a_new_queue_does_not_catch_up() -> None:
    order = order_of({"high": 1, "low": 1})
    served(order, {"high": 1000}, 1000)
    assert served(order, {"high": 100, "low": 100}, 20)["high"] >= 9


@pytest.mark.parametrize("given", ["high", 5, [1, 2], {"high": 0}, {"high": 1.5}, {"high": True}])
def test_wrong_orders(given: Any) -> None:
    with pytest.raises(ArgumentError, match="order="):
        order_of(given)
