"""The demo's parts without Redis: plan, clock, figures, words, plain lines."""

from __future__ import annotations

import math
import random
import re
from datetime import datetime
from itertools import pairwise

import pytest

from redisson_dq.cli.demo._board import Board, Item, percentile, plan
from redisson_dq.cli.demo._clock import measure
from redisson_dq.cli.demo._display import (
    PlainDisplay,
    bulk_cells,
    clock_time,
    headline,
    item_cells,
    lateness_lines,
    milliseconds,
)


class TestPlan:
    def test_the_default_one(self) -> None:
        board = plan(items=12, bulk=300, seconds=6.0)
        singles, bulk = ([item.delay for item in each] for each in (board.singles, board.bulk))
        assert (min(singles), max(singles), len(singles)) == (0.2, 6.0, 12)
        assert (min(bulk), max(bulk), len(bulk)) == (0.5, 3.0, 300)
        assert (len(board.items), board.missing, board.longest) == (312, 312, 6.0)

    def test_the_order_of_the_offers_is_not_the_order_of_the_due_times(self) -> None:
        delays = [item.delay for item in plan(items=12, bulk=0, seconds=6.0).singles]
        assert delays != sorted(delays)

    def test_it_is_the_same_at_every_run(self) -> None:
        assert plan(items=5, bulk=9, seconds=2.0) == plan(items=5, bulk=9, seconds=2.0)

    @pytest.mark.parametrize("seconds", [0.001, 0.1, 0.3, 100.0])
    @pytest.mark.parametrize("count", [1, 2, 7])
    def test_no_delay_is_longer_than_asked_for(self, seconds: float, count: int) -> None:
        items = plan(items=count, bulk=count, seconds=seconds).items.values()
        assert all(0 <= item.delay <= seconds for item in items)
        assert len(items) == 2 * count


class TestClock:
    def test_the_quickest_answer_counts(self) -> None:
        # The server is 5 s ahead. Every answer takes longer on the way back than on the way there, by a random
        # amount, but for one that takes 1 ms there and 1 ms back.
        rng = random.Random(1)
        here = 100.0
        trips = [(0.002, 0.002 + rng.random()) for _ in range(19)]
        trips.insert(11, (0.001, 0.001))

        def server_time_us() -> int:
            nonlocal here
            there, back = trips.pop()
            here += there
            answer = round((here + 5) * 1_000_000)
            here += back
            return answer

        clock = measure(server_time_us, counter=lambda: here)
        assert not trips
        assert clock.error_ms == pytest.approx(1.0)
        assert clock.now_ms() == pytest.approx((here + 5) * 1000, abs=0.01)

    @pytest.mark.parametrize("seed", range(20))
    def test_the_error_is_never_smaller_than_the_truth(self, seed: int) -> None:
        rng = random.Random(seed)
        here, ahead = 0.0, rng.uniform(0, 20)

        def server_time_us() -> int:
            nonlocal here
            here += rng.random() / 100
            answer = round((here + ahead) * 1_000_000)
            here += rng.random() / 100
            return answer

        clock = measure(server_time_us, counter=lambda: here)
        assert abs(clock.now_ms() - (here + ahead) * 1000) <= clock.error_ms + 0.002

    def test_drift(self) -> None:
        early = measure(lambda: 1_000_000_000, counter=lambda: 1.0)
        late = measure(lambda: 1_000_003_000, counter=lambda: 1.0)
        assert early.drift_ms(late) == late.drift_ms(early) == pytest.approx(3.0)


class TestPercentile:
    @pytest.mark.parametrize(
        ("percent", "expected"), [(0, 1.0), (10, 1.0), (50, 5.0), (51, 6.0), (90, 9.0), (99, 10.0), (100, 10.0)]
    )
    def test_of_ten(self, percent: float, expected: float) -> None:
        assert percentile([float(number) for number in range(1, 11)], percent) == expected

    def test_of_one_and_of_none(self) -> None:
        assert percentile([4.0], 99) == 4.0
        assert math.isnan(percentile([], 50))


DELAYS = {"a": 2.0, "b": 1.0, "x": 0.5, "y": 0.6}


def board_with(**lateness: float) -> Board:
    """Everything due at 1,000,000 ms plus its delay; these arrived, so many ms late."""
    items = [Item(value=value, delay=delay, due_ms=1_000_000 + delay * 1000) for value, delay in DELAYS.items()]
    board = Board(singles=items[:2], bulk=items[2:])
    for value, late in lateness.items():
        board.arrived(value, 1_000_000 + DELAYS[value] * 1000 + late)
    return board


def lost(board: Board, *, error_ms: float = 0.1) -> tuple[int, int, int, int]:
    return board.early(error_ms=error_ms), board.missing, board.twice, board.foreign


class TestBoard:
    def test_all_well(self) -> None:
        board = board_with(b=1.0, a=2.0, x=3.0, y=4.0)
        assert board.is_good(error_ms=0.1)
        assert lost(board) == (0, 0, 0, 0)
        assert lateness_lines(board, error_ms=0.1)[0] == (
            "lateness  p50 2.00 ms, p90 4.00 ms, p99 4.00 ms, max 4.00 ms (each +-0.10 ms)"
        )

    def test_lost(self) -> None:
        board = board_with(b=1.0, x=3.0)
        assert lost(board) == (0, 2, 0, 0)
        assert not board.is_good(error_ms=0.1)

    def test_twice(self) -> None:
        board = board_with(b=1.0, a=2.0, x=3.0, y=4.0)
        board.arrived("a", 1_002_500)
        assert lost(board) == (0, 0, 1, 0)
        assert not board.is_good(error_ms=0.1)
        assert board.items["a"].lateness_ms == 2.0  # the first arrival counts
        assert board.last_ms == 1_002_500

    def test_early_is_what_the_clocks_error_cannot_explain(self) -> None:
        board = board_with(a=-0.09, b=-0.2, x=1.0, y=1.0)
        assert lost(board, error_ms=0.1) == (1, 0, 0, 0)
        assert board.is_good(error_ms=0.3)

    def test_a_value_that_nobody_offered(self) -> None:
        board = board_with(a=1.0, b=1.0, x=1.0, y=1.0)
        assert board.arrived("stranger", 1.0) is None
        assert lost(board) == (0, 0, 0, 1)
        assert not board.is_good(error_ms=0.1)
        assert "1 that nobody offered" in headline(board, error_ms=0.1)

    def test_nothing_came(self) -> None:
        board = board_with()
        assert lost(board) == (0, 4, 0, 0)
        assert lateness_lines(board, error_ms=0.1)[0].startswith("lateness  p50 -, p90 -")


class TestWords:
    @pytest.mark.parametrize(
        ("value", "text"),
        [
            (None, "-"),
            (math.nan, "-"),
            (0.0, "0.00 ms"),
            (0.844, "0.84 ms"),
            (-0.5, "-0.50 ms"),
            (12.34, "12.3 ms"),
            (250.2, "250 ms"),
        ],
    )
    def test_milliseconds(self, value: float | None, text: str) -> None:
        assert milliseconds(value) == text

    def test_clock_time(self) -> None:
        moment = datetime(2024, 2, 3, 14, 3, 59, 42_000)
        assert clock_time(moment.timestamp() * 1000 + 0.9) == "14:03:59.042"
        assert clock_time(None) == ""

    def test_headline(self) -> None:
        assert (
            headline(board_with(a=1.0, b=1.0, x=1.0, y=1.0), error_ms=0.1)
            == "4 of 4 items taken: none early, none lost, none twice"
        )
        assert "2 of 4 items taken: none early, 2 lost" in headline(board_with(a=1, b=1), error_ms=0.1)

    def test_an_items_cells(self) -> None:
        items = board_with(a=0.84).items
        value, delay, due, arrived, late = item_cells(items["a"])
        assert (value, delay, late) == ("a", "2.00 s", "0.84 ms")
        assert all(re.fullmatch(r"\d\d:\d\d:\d\d\.\d{3}", each) for each in (due, arrived))
        assert item_cells(items["b"], now_ms=1_000_400)[3:] == ("in 0.6 s", "")
        assert item_cells(Item(value="c", delay=1.0))[2:] == ("", "", "")

    def test_the_bulks_cells(self) -> None:
        assert bulk_cells(board_with(x=2.0).bulk) == (
            "bulk of 2",
            "0.5-0.6 s",
            "offer_all",
            "1 of 2",
            "p50 2.00 ms, max 2.00 ms",
        )
        assert bulk_cells(board_with().bulk)[3:] == ("0 of 2", "p50 -, max -")


class TestPlainView:
    def test_singles_get_a_line_and_the_bulk_one_at_every_quarter(self, capsys: pytest.CaptureFixture[str]) -> None:
        board = plan(items=3, bulk=10, seconds=1.0)
        with PlainDisplay(board) as display:
            for value, item in board.items.items():
                board.arrived(value, item.delay + 1)
                display.took(item)
            display.close("the outcome", ["one", "two"], good=True)
        lines = capsys.readouterr().out.splitlines()
        assert [line.split()[0] for line in lines[:3]] == ["item-01", "item-02", "item-03"]
        counts = [int(re.findall(r"arrived (\d+) of 10", line)[0]) for line in lines if line.startswith("bulk of 10 ")]
        assert counts == [3, 5, 8, 10]
        assert all(later > earlier for earlier, later in pairwise(counts))
        assert lines[-4:] == ["", "the outcome", "one", "two"]
