"""Several sources of one line: their order, and the values that each is asked for."""

from __future__ import annotations

import itertools

import pytest

from redisson_dq.waits.rotation import Rotation, Stock, evenly, needs_sizes, share_out

EMPTY, UNKNOWN, ONE, MANY = Stock(0, False), Stock(None, False), Stock(1, False), Stock(9, False)
OWING = Stock(9, True)


def test_a_source_that_gave_values_goes_behind_all_others() -> None:
    rotation = Rotation(["a", "b", "c"])
    rotation.gave("b")
    assert rotation.order == ["c", "a", "b"]
    rotation.add("d")
    rotation.gave("c")
    assert rotation.order == ["a", "b", "d", "c"]


def test_one_source_alone_stays_where_it_is() -> None:
    rotation = Rotation(["a"])
    rotation.gave("a")
    assert rotation.order == ["a"]


@pytest.mark.parametrize(
    ("wanted", "stocks", "shares"),
    [
        (3, [MANY], [3]),
        (0, [MANY], [None]),
        (0, [EMPTY], [0]),
        (2, [EMPTY], [2]),
        (2, [UNKNOWN], [2]),
        (5, [MANY, MANY], [3, 2]),
        (1, [MANY, MANY], [1, None]),
        (1, [EMPTY, MANY], [0, 1]),
        (0, [MANY, EMPTY], [None, 0]),
        (0, [OWING, MANY], [0, None]),
        (0, [UNKNOWN, MANY], [0, None]),
        (7, [MANY, EMPTY, ONE, OWING], [3, 0, 2, 2]),
        (0, [], []),
    ],
)
def test_the_wanted_values_are_shared_out(wanted: int, stocks: list[Stock], shares: list[int | None]) -> None:
    assert share_out(wanted, stocks) == shares


def test_no_more_is_asked_for_than_is_wanted_and_no_source_is_forgotten() -> None:
    kinds = (EMPTY, UNKNOWN, ONE, MANY, OWING)
    for count, wanted in itertools.product(range(1, 5), range(6)):
        for stocks in itertools.product(kinds, repeat=count):
            shares = share_out(wanted, stocks)
            asked = sum(share or 0 for share in shares)
            assert asked == (wanted if count == 1 or any(stock.left for stock in stocks) else 0)
            for share, stock in zip(shares, stocks, strict=True):
                assert share is not None or (stock.left and not stock.owes)


def test_each_of_several_is_asked_for_its_size_while_one_is_not_known() -> None:
    assert needs_sizes([UNKNOWN, MANY])
    assert not needs_sizes([EMPTY, MANY])
    assert not needs_sizes([UNKNOWN])


def test_the_first_ones_give_one_more() -> None:
    assert evenly(7, 3) == [3, 2, 2]
    assert evenly(0, 0) == []
