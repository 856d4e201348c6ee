"""Slots, batches and parking: walked through every sequence of values, endings and times."""

from __future__ import annotations

import copy
import math
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from functools import partial
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from redisson_dq.working.handlers import Handler, declared
from redisson_dq.working.roster import Post, Roster
from tests.conftest import as_many
from tests.unit.working.walking import Move, closure

WITHIN = 2.0
# The patience with a full handler, and the time after which parked values are too late.
PATIENCE, FARTHEST = 0.05, 10.0


def handler(concurrency: int = 1, batch: int | None = None) -> Handler:
    return declared(lambda value: None, "orders", None, batch, WITHIN if batch else 0, concurrency=concurrency)


class Surroundings:
    """A queue with handlers, whose values arrive, and whose handlings end, in any order."""

    def __init__(self, *handlers: Handler, total: int | None = None, most: int = 4) -> None:
        self.handlers = handlers
        self.total = total
        self.most = most
        self.roster = Roster(total)
        self.now = 100.0
        self.handlings: list[Post] = []
        self.came = 0
        # How often each value was passed on, by its number.
        self.passed_on: Counter[int] = Counter()
        self.employed = self.closed = False

    def __deepcopy__(self, memo: dict[int, Any]) -> Surroundings:
        # What was declared is frozen.
        memo.update({id(each): each for each in self.handlers})
        made = Surroundings.__new__(Surroundings)
        memo[id(self)] = made
        made.__dict__.update({name: copy.deepcopy(value, memo) for name, value in self.__dict__.items()})
        return made

    @property
    def posts(self) -> list[Post]:
        return [self.roster.post(each) for each in self.handlers]

    def situation(self) -> Hashable:
        def ahead(moment: float | None) -> float | None:
            return None if moment is None else round(max(moment - self.now, -1.0), 3)

        posts = [
            (
                post.is_passed,
                post.running,
                len(post.gathered),
                ahead(post.moment),
                None if post.full_since is None else min(round(self.now - post.full_since, 3), 4.0),
                ahead(post.last_parked),
            )
            for post in self.posts
        ]
        alone = tuple(post.is_alone for post in self.posts)
        return (
            tuple(posts),
            alone,
            len(self.roster.handlers("orders")),
            self.came,
            self.employed,
            self.closed,
            len(self.handlings),
        )

    # -- what may happen next ----------------------------------------------------------------------------------------

    def moves(self) -> Iterable[Move]:
        if not self.employed:
            yield ("employ",)
            yield ("employ first",)
            return
        for place in range(len(self.handlers)):
            if self.came < self.most:
                yield "value", place
                yield "failed", place
                yield "unadmitted", place
            if self.roster.post(self.handlers[place]).is_passed:
                yield "flood", place
        for place in range(len(self.handlings)):
            if self.handlings[place] not in self.handlings[:place]:
                yield "end", place
        moments = [moment for moment in self.roster.moments() if moment < math.inf]
        if moments:
            yield ("until", "next")
        yield ("employ",)
        yield ("employ first",)
        if not self.closed:
            yield ("close",)

    def play(self, move: Move) -> None:
        kind = move[0]
        place: int = move[1] if len(move) > 1 and isinstance(move[1], int) else 0
        post = self.posts[place] if kind != "end" else self.handlings[place]
        full = {each: (each.is_passed, each.full_since) for each in self.posts if not each.has_room}
        wanted, slots, was_passed = self.wanted(), self.slots(), post.is_passed
        if kind.startswith("employ"):
            self.employed, self.closed = True, False
            self.roster.employ("orders", self.handlers[:1] if kind == "employ first" else self.handlers, self.now)
        elif kind == "close":
            self.closed = True
            self.pass_on(self.roster.close("orders", self.roster.handlers("orders"), self.now))
            assert not any(each.gathered for each in self.posts), "a batch of a closed queue goes back"
        elif kind == "until":
            self.now = max(self.now, min(self.roster.moments()))
            due = self.roster.due(self.now)
            assert due, "a moment that comes leads to something"
            for each in due:
                values = each.due(self.now)
                assert bool(values) is not each.is_passed, "a batch begins, or others go on"
                self.begin(each, values)
        elif kind == "end":
            del self.handlings[place]
            post.freed(self.now)
        elif kind == "flood":
            # Many values of a handler that is passed.
            assert post.parked(1200, self.now) > FARTHEST
            assert not post.is_passed, "others are held up when parked values come late"
        else:
            self.came += 1
            self.value(kind, post, wanted if not was_passed else 0, slots)
        for busy, (was_passed, since) in full.items():
            if not busy.has_room:
                assert since in (None, busy.full_since), "the time for which it has been full goes on"
                is_alone = kind.startswith("employ") and busy.is_alone
                is_free_to = is_alone or kind not in ("end", "close", "employ", "employ first")
                assert busy.is_passed is was_passed or is_free_to
        self.check()

    def value(self, kind: str, post: Post, wanted: int, slots: int) -> None:
        was_passed = post.is_passed
        begun = None if kind == "unadmitted" else post.came(self.came, self.now, fails=kind == "failed")
        for each in self.roster.gathering("orders"):
            each.wait_for_more(self.now)
        if begun is None:
            is_asked_for = kind == "value" and wanted > 0 and post.handler in self.roster.handlers("orders")
            assert not is_asked_for, "a value that is wanted is turned away"
            self.pass_on([self.came])
            pause = post.parked(1, self.now)
            assert (pause > 0) is was_passed
            assert post.is_passed is (was_passed and pause <= FARTHEST)
            return
        if kind == "failed":
            assert begun == [self.came]
        else:
            assert len(begun) in (0, post.handler.batch or 1)
        self.begin(post, begun)
        if kind == "value" and wanted > 0 and self.total is not None and post.handler in self.roster.handlers("orders"):
            assert self.slots() <= max(slots, self.total), "more go on than the worker may begin"

    def begin(self, post: Post, values: list[int]) -> None:
        self.handlings += [post] if values else []
        self.pass_on(values)

    def pass_on(self, values: list[int]) -> None:
        self.passed_on.update(values)

    # -- what has to be true -----------------------------------------------------------------------------------------

    def wanted(self) -> int:
        return self.roster.wanted("orders")

    def slots(self) -> int:
        return len(self.handlings) + sum(bool(post.gathered) for post in self.posts)

    def check(self) -> None:
        gathered = [value for post in self.posts for value in post.gathered]
        assert all(count == 1 for count in self.passed_on.values()), "a value was passed on twice"
        found = [*self.passed_on, *gathered]
        assert sorted(found) == list(range(1, self.came + 1)), "each value is begun, kept, or turned away"
        for post in self.posts:
            assert post.running == self.handlings.count(post)
            assert len(post.gathered) < (post.handler.batch or 1), "a full batch begins"
            assert not (post.has_room and post.is_passed)
            if post.gathered:
                assert post.moment is not None, "a batch begins at a time"
                assert post.moment <= self.now + WITHIN
            elif not post.has_room and not post.is_passed and not post.is_alone:
                assert post.moment is not None, "a full handler is passed at a time"
                assert post.moment >= self.now or post.moment >= post.last_parked - FARTHEST
            else:
                assert post.moment is None, "nobody passes a handler that is alone"
        if self.total is not None:
            assert self.roster.free == self.total - self.slots(), "each handling and each batch is counted once"
        employed = self.roster.handlers("orders")
        assert len(employed) != 1 or not self.roster.post(employed[0]).is_passed, "nobody passes one that is alone"
        if any(not (each.has_room or each.is_passed) and each.handler in employed for each in self.posts):
            assert self.wanted() == 0, "a full handler holds up the others"
        if self.total is not None and self.slots() >= self.total:
            # Who gathers has its slot already.
            assert self.wanted() < max((post.handler.batch or 1 for post in self.posts), default=1)


def alone(batch: int | None = None) -> Surroundings:
    return Surroundings(handler(2, batch))


def shared(batch: int | None = None, total: int | None = None) -> Surroundings:
    return Surroundings(handler(1, batch), handler(1), total=total)


STARTS: dict[str, Callable[[], Surroundings]] = {
    "one": alone,
    "one in batches": partial(alone, 3),
    "two, one in batches of one": partial(shared, 1),
    "two": shared,
    "two, one in batches": partial(shared, 2),
    "two of a worker with one slot": partial(shared, 2, 1),
}


@pytest.mark.parametrize("name", list(STARTS))
def test_each_value_is_begun_kept_or_turned_away_whatever_happens(name: str) -> None:
    assert closure(STARTS[name](), 7) > 20


@pytest.mark.nightly
@pytest.mark.parametrize("name", list(STARTS))
def test_longer_sequences(name: str) -> None:
    assert closure(STARTS[name](), 12) > 20


class AnyWorker(RuleBasedStateMachine):
    """More handlers, larger batches and more values, by chance."""

    @initialize(
        sizes=st.lists(st.tuples(st.integers(1, 3), st.none() | st.integers(1, 4)), min_size=1, max_size=3),
        total=st.none() | st.integers(1, 4),
    )
    def begin(self, sizes: list[tuple[int, int | None]], total: int | None) -> None:
        self.surroundings = Surroundings(*(handler(*each) for each in sizes), total=total, most=1000)

    @rule(data=st.data())
    def move(self, data: st.DataObject) -> None:
        self.surroundings.play(data.draw(st.sampled_from(list(self.surroundings.moves()))))


TestAnyWorker = AnyWorker.TestCase
TestAnyWorker.settings = settings(max_examples=as_many(8, 100), stateful_step_count=60, deadline=None)


# -- slots and batches -----------------------------------------------------------------------------------------------


def test_a_batch_is_filled_up_though_the_worker_has_no_other_slot() -> None:
    roster, batched = Roster(1), handler(1, 3)
    roster.employ("orders", [batched], 100.0)
    assert roster.wanted("orders") == 3
    roster.post(batched).came("a", 100.0)
    assert roster.wanted("orders") == 2


def test_a_batch_begins_at_its_time_with_what_there_is() -> None:
    roster, batched = Roster(), handler(1, 3)
    roster.employ("orders", [batched], 100.0)
    assert roster.post(batched).came("a", 100.0) == []
    # The rest of the receive may be for it.
    assert list(roster.moments()) == []
    assert roster.gathering("orders") == [roster.post(batched)]
    roster.post(batched).wait_for_more(100.0)
    roster.post(batched).wait_for_more(101.0)
    assert list(roster.moments()) == [100.0 + WITHIN]
    assert roster.due(101.9) == []
    (post,) = roster.due(102.0)
    assert post.due(102.0) == ["a"]
    assert roster.wanted("orders") == 0


def test_a_handler_that_was_taken_off_ends_its_batch_and_is_forgotten() -> None:
    roster, batched, other = Roster(), handler(1, 3), handler(1)
    roster.employ("orders", [batched, other], 100.0)
    post = roster.post(batched)
    post.came("a", 100.0)
    roster.employ("orders", [other], 100.0)
    assert roster.post(batched) is post
    assert roster.gathering("orders") == [post]
    post.wait_for_more(100.0)
    assert roster.due(102.0) == [post]
    assert post.due(102.0) == ["a"]
    post.freed(103.0)
    roster.employ("orders", [other], 103.0)
    assert roster.post(batched) is not post


def test_a_queue_that_was_opened_anew_outlasts_the_end_of_its_first_life() -> None:
    roster, first, second = Roster(), handler(1, 3), handler(1)
    roster.employ("orders", [first], 100.0)
    roster.post(first).came("a", 100.0)
    roster.employ("orders", [second], 100.0)
    assert roster.close("orders", [first], 100.0) == ["a"]
    assert roster.wanted("orders") == 1


@pytest.mark.parametrize("seconds", [0.0, 1.0], ids=["before it is passed", "while it is passed"])
def test_nobody_passes_a_handler_that_has_its_queue_alone_again(seconds: float) -> None:
    roster, busy, now = Roster(), handler(1), 100.0 + seconds
    roster.employ("orders", [busy, handler(1)], 100.0)
    post = roster.post(busy)
    post.came("a", 100.0)
    for due in roster.due(now):
        due.due(now)
    roster.employ("orders", [busy], now)
    assert list(roster.moments()) == []
    # A value that arrives for it goes back to the head.
    assert post.came("b", now) is None
    assert post.parked(1, now) == 0


# -- parking ---------------------------------------------------------------------------------------------------------


def passed(seconds: float) -> tuple[Post, float]:
    """The post of a handler that has been full for this long, and the time."""
    roster, busy = Roster(), handler(1)
    roster.employ("orders", [busy, handler(1)], 100.0)
    roster.post(busy).came("a", 100.0)
    assert not roster.post(busy).is_passed
    (due,) = roster.due(100.0 + PATIENCE)
    assert due.due(100.0 + PATIENCE) == []
    assert roster.post(busy).is_passed
    return roster.post(busy), 100.0 + seconds


def test_a_handler_that_is_full_for_a_moment_holds_up_the_others() -> None:
    roster, busy = Roster(), handler(1)
    roster.employ("orders", [busy, handler(1)], 100.0)
    post = roster.post(busy)
    assert post.came("a", 100.0) == ["a"]
    assert roster.due(100.04) == []
    # A value that arrives for it meanwhile goes back to the head, and none passes it.
    assert post.parked(3, 100.04) == 0
    post.freed(100.04)
    assert (post.has_room, post.moment) == (True, None)
    # When it is full again, the others are held up as long as the first time.
    post.came("b", 100.06)
    assert roster.due(100.10) == []
    assert roster.due(100.11) == [post]


def test_the_pause_grows_with_the_time_for_which_it_has_been_full() -> None:
    pauses = []
    for seconds in (0.1, 2.0, 60.0):
        post, now = passed(seconds)
        pauses.append(post.parked(1, now))
    assert [round(pause, 6) for pause in pauses] == [0.11, 0.51, 1.01]


def test_parked_values_come_again_in_their_order_and_at_most_100_a_second() -> None:
    post, now = passed(60)
    comes = []
    for _ in range(100):
        comes.append(now + post.parked(8, now))
        now += 0.001
    assert comes == sorted(comes)
    assert comes[-1] - comes[0] > 99 * 8 * 0.01 - 1


def test_others_stand_behind_a_thousand_parked_values_and_are_held_up_again() -> None:
    post, now = passed(60)
    post.parked(900, now)
    assert post.is_passed
    post.parked(400, now)
    assert not post.is_passed
    # Until the last one comes within ten seconds.
    assert post.moment == pytest.approx(now + 4.0)
    post.due(now + 4.1)
    assert post.is_passed
    # A handler that was free meanwhile is no exception.
    post.parked(400, now + 4.1)
    post.freed(now + 4.2)
    post.came("b", now + 4.2)
    assert post.moment is not None
    assert post.moment > now + 4.3


def test_ten_values_of_a_handler_that_never_ends_are_parked_once_a_second_each() -> None:
    post, now = passed(PATIENCE)
    due = sorted(now + post.parked(1, now) for _ in range(10))
    count = 10
    while due[0] < 1000:
        now = due.pop(0)
        count += 1
        due = sorted([*due, now + post.parked(1, now)])
    assert count <= 10 * (1000 - 100) + 100


def test_a_timeout_is_the_longest_that_a_handler_may_take() -> None:
    def patience(timeout: float | None, *seconds: float) -> float:
        post = Roster().post(declared(lambda value: None, "orders", timeout=timeout))
        for each in seconds:
            post.freed(100.0, each)
        return post.patience(300)

    assert (patience(None), patience(900)) == (300, 900)
    # By its usual time from the first end on: soon, where it is fast.
    assert (patience(None, 0.05), patience(10, 0.05)) == (30, 10)
    # A handler that is slow by design.
    assert patience(None, 0.05, 600.0) == 1800
    assert patience(None, 600.0, *[1.0] * 50) < 30 + 3 * 600 * 0.9**50
