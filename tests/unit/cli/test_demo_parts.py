"""The demo's parts without Redis: plan, clock, figures, words, plain lines."""

from __future__ import annotations

import math
import random
import re
from datetime import datetime
from itertools import pairwise

import pytest

from redisson_dq.cli.demo._board import Board, OfferPlan, make_plan, percentile
from redisson_dq.cli.demo._clock import measure
from redisson_dq.cli.demo._display import PlainDisplay
from redisson_dq.cli.demo._sandbox import shown_url
from redisson_dq.cli.demo._text import bulk_line, clock_time, headline, item_line, milliseconds


class TestPlan:
    def test_the_default_one(self) -> None:
        plan = make_plan(items=12, bulk=300, seconds=6.0)
        assert (min(plan.items.values()), max(plan.items.values())) == (0.2, 6.0)
        assert (min(plan.bulk.values()), max(plan.bulk.values())) == (0.5, 3.0)
        assert (len(plan.items), len(plan.bulk), len(plan.delays)) == (12, 300, 312)

    def test_the_order_of_the_offers_is_not_the_order_of_the_due_times(self) -> None:
        delays = list(make_plan(items=12, bulk=0, seconds=6.0).items.values())
        assert delays != sorted(delays)

    def test_it_is_the_same_at_every_run(self) -> None:
        assert make_plan(items=5, bulk=9, seconds=2.0) == make_plan(items=5, bulk=9, seconds=2.0)

    @pytest.mark.parametrize("seconds", [0.001, 0.1, 0.3, 100.0])
    @pytest.mark.parametrize("count", [1, 2, 7])
    def test_no_delay_is_longer_than_asked_for(self, seconds: float, count: int) -> None:
        plan = make_plan(items=count, bulk=count, seconds=seconds)
        assert all(0 <= delay <= seconds for delay in plan.delays.values())
        assert len(plan.delays) == 2 * count


class TestClock:
    def test_the_quickest_answer_counts(self) -> None:
        # The server is 5 s ahead. Every answer takes longer on the way back than on the way there, by a random
        # amount, but for one that takes 1 ms there and 1 ms back.
        rng = random.Random(1)
        here = 100.0
        trips = [(0.002, 0.002 + rng.random()) for _ in range(19)]
        trips.insert(11, (0.001, 0.001))

        def server_time() -> tuple[int, int]:
            nonlocal here
            there, back = trips.pop()
            here += there
            answer = divmod(round((here + 5) * 1_000_000), 1_000_000)
            here += back
            return answer

        clock = measure(server_time, counter=lambda: here)
        assert not trips
        assert clock.error_ms == pytest.approx(1.0)
        assert clock.at(100.0) == pytest.approx(105_000, abs=0.01)

    @pytest.mark.parametrize("seed", range(20))
    def test_the_error_is_never_smaller_than_the_truth(self, seed: int) -> None:
        rng = random.Random(seed)
        here, ahead = 0.0, rng.uniform(0, 20)

        def server_time() -> tuple[int, int]:
            nonlocal here
            here += rng.random() / 100
            answer = divmod(round((here + ahead) * 1_000_000), 1_000_000)
            here += rng.random() / 100
            return answer

        clock = measure(server_time, counter=lambda: here)
        assert abs(clock.at(1.0) - (1.0 + ahead) * 1000) <= clock.error_ms + 0.002

    def test_drift(self) -> None:
        early = measure(lambda: (1000, 0), counter=lambda: 1.0)
        late = measure(lambda: (1000, 3000), counter=lambda: 1.0)
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


PLAN = OfferPlan(items={"a": 2.0, "b": 1.0}, bulk={"x": 0.5, "y": 0.6})


def board_with(**lateness: float) -> Board:
    """Everything due at 1,000,000 ms plus its delay; these arrived, so many ms late."""
    board = Board(PLAN)
    for value, delay in PLAN.delays.items():
        board.due(value, 1_000_000 + delay * 1000)
    for value, late in lateness.items():
        board.arrived(value, 1_000_000 + PLAN.delays[value] * 1000 + late)
    return board


class TestBoard:
    def test_all_well(self) -> None:
        board = board_with(b=1.0, a=2.0, x=3.0, y=4.0)
        summary = board.summary(error_ms=0.1)
        assert board.complete
        assert summary.good
        assert (summary.planned, summary.taken) == (4, 4)
        assert (summary.early, summary.lost, summary.twice, summary.foreign) == (0, 0, 0, 0)
        assert (summary.p50, summary.p90, summary.p99, summary.worst) == (2.0, 4.0, 4.0, 4.0)

    def test_lost(self) -> None:
        board = board_with(b=1.0, x=3.0)
        summary = board.summary(error_ms=0.1)
        assert not board.complete
        assert (summary.taken, summary.lost, summary.good) == (2, 2, False)

    def test_twice(self) -> None:
        board = board_with(b=1.0, a=2.0, x=3.0, y=4.0)
        board.arrived("a", 1_002_500)
        summary = board.summary(error_ms=0.1)
        assert (summary.taken, summary.twice, summary.lost, summary.good) == (4, 1, 0, False)
        assert summary.worst == 4.0  # the first arrival counts

    def test_early_is_what_the_clocks_error_cannot_explain(self) -> None:
        board = board_with(a=-0.09, b=-0.2, x=1.0, y=1.0)
        assert board.summary(error_ms=0.1).early == 1
        assert board.summary(error_ms=0.3).good

    def test_a_value_that_nobody_offered(self) -> None:
        board = board_with(a=1.0, b=1.0, x=1.0, y=1.0)
        assert board.arrived("stranger", 1.0) is None
        summary = board.summary(error_ms=0.1)
        assert (summary.foreign, summary.taken, summary.good) == (1, 4, False)
        assert "1 that nobody offered" in headline(summary)

    def test_the_first_word_about_a_due_time_counts(self) -> None:
        board = board_with()
        board.due("a", 5.0)
        board.due("stranger", 5.0)
        assert board.items["a"].due_ms == 1_002_000

    def test_singles_stand_in_the_order_of_their_due_times(self) -> None:
        assert [item.value for item in board_with().singles] == ["b", "a"]
        assert [item.value for item in board_with().bulk] == ["x", "y"]

    def test_nothing_came(self) -> None:
        summary = board_with().summary(error_ms=0.1)
        assert (summary.lost, summary.good) == (4, False)
        assert math.isnan(summary.p50)


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
            headline(board_with(a=1.0, b=1.0, x=1.0, y=1.0).summary(error_ms=0.1))
            == "4 of 4 items taken: none early, none lost, none twice"
        )
        assert "2 of 4 items taken: none early, 2 lost" in headline(board_with(a=1, b=1).summary(error_ms=0.1))

    def test_an_items_line(self) -> None:
        line = item_line(board_with(a=0.84).items["a"])
        assert re.fullmatch(
            r"a  delay 2\.00 s  due \d\d:\d\d:\d\d\.\d{3}  arrived \d\d:\d\d:\d\d\.\d{3}  late 0\.84 ms", line
        )

    def test_the_bulks_line(self) -> None:
        assert bulk_line(board_with(x=2.0).bulk) == "bulk: 1 of 2 taken, late p50 2.00 ms, max 2.00 ms"
        assert bulk_line(board_with().bulk) == "bulk: 0 of 2 taken, late p50 -, max -"

    @pytest.mark.parametrize(
        ("url", "shown"),
        [
            ("redis://user:secret@host:1/2?password=other", "redis://host:1/2"),
            ("unix://:secret@/run/redis.sock?db=1", "unix:///run/redis.sock"),
            ("plain text", "plain text"),
            ("user:secret@host", "host"),
            ("redis://:secret@[::1", "[::1"),
        ],
    )
    def test_a_url_is_shown_without_its_secrets(self, url: str, shown: str) -> None:
        assert shown_url(url) == shown


class TestPlainView:
    def test_singles_get_a_line_and_the_bulk_one_at_every_quarter(self, capsys: pytest.CaptureFixture[str]) -> None:
        board = Board(make_plan(items=3, bulk=10, seconds=1.0))
        with PlainDisplay(board) as display:
            for value, item in board.items.items():
                board.due(value, item.delay)
                board.arrived(value, item.delay + 1)
                display.took(item)
                display.refresh(0.0)
            display.close("the outcome", ["one", "two"], good=True)
        lines = capsys.readouterr().out.splitlines()
        assert [line.split()[0] for line in lines[:3]] == ["item-01", "item-02", "item-03"]
        counts = [int(line.split()[1]) for line in lines if line.startswith("bulk:")]
        assert counts == [3, 5, 8, 10]
        assert all(later > earlier for earlier, later in pairwise(counts))
        assert lines[-4:] == ["", "the outcome", "one", "two"]
