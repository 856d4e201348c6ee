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

from redisson_dq.working import post_table
from redisson_dq.working.handlers import Handler, declared
from redisson_dq.working.post import Post, PostAction
from redisson_dq.working.post_table import Do, State, Trigger
from redisson_dq.working.roster import Roster
from tests.conftest import as_many
from tests.unit.working.walking import Move, closure, unnoticed

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
                post.state,
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
        before = post.state
        full = {each: (each.state, each.full_since) for each in self.posts if each.state in (State.FULL, State.PASSED)}
        wanted = self.wanted()
        slots = self.slots()
        actions = self.made(kind, post, place)
        for action in actions:
            self.carry_out(action)
        self.expect(kind, post, before, wanted, slots, actions)
        for busy, (state, since) in full.items():
            if busy.state in (State.FULL, State.PASSED):
                assert since in (None, busy.full_since), "the time for which it has been full goes on"
                is_alone = kind.startswith("employ") and busy.is_alone
                assert busy.state is state or is_alone or kind in ("until", "flood", "value", "failed", "unadmitted")
        self.check()

    def made(self, kind: str, post: Post, place: int) -> tuple[PostAction, ...]:
        if kind.startswith("employ"):
            self.employed, self.closed = True, False
            chosen = self.handlers[:1] if kind == "employ first" else self.handlers
            return tuple(self.roster.employ("orders", chosen, self.now))
        if kind == "close":
            self.closed = True
            return tuple(self.roster.close("orders", self.roster.handlers("orders"), self.now))
        if kind == "until":
            self.now = max(self.now, min(self.roster.moments()))
            return tuple(self.roster.due(self.now))
        if kind == "end":
            del self.handlings[place]
            return post.freed(self.now)
        if kind == "flood":
            # Many values of a handler that is passed.
            pause, actions = post.parked(1200, self.now)
            assert pause > FARTHEST
            assert not post.is_passed, "others are held up when parked values come late"
            return actions
        self.came += 1
        return post.came(self.came, self.now, fails=kind == "failed", is_admitted=kind != "unadmitted")

    def carry_out(self, action: PostAction) -> None:
        if action.do is Do.BEGIN:
            assert action.values, "a handling without a value"
            self.handlings.append(action.post)
        if action.do in (Do.BEGIN, Do.RETURN):
            for value in action.values:
                self.passed_on[value] += 1
        elif action.do is Do.TURN_AWAY:
            self.passed_on[self.came] += 1
            was_passed = action.post.is_passed
            pause, actions = action.post.parked(1, self.now)
            assert (pause > 0) is was_passed
            assert [each.do for each in actions] == ([Do.ARM] if pause > FARTHEST else [])
            assert action.post.is_passed is (was_passed and pause <= FARTHEST)

    # -- what has to be true -----------------------------------------------------------------------------------------

    def wanted(self) -> int:
        return self.roster.wanted("orders")

    def slots(self) -> int:
        return len(self.handlings) + sum(bool(post.gathered) for post in self.posts)

    def expect(
        self, kind: str, post: Post, before: State, wanted: int, slots: int, actions: tuple[PostAction, ...]
    ) -> None:
        did = [action.do for action in actions]
        if kind == "value":
            is_asked_for = wanted > 0 and before is not State.PASSED and post.handler in self.roster.handlers("orders")
            assert not (is_asked_for and Do.TURN_AWAY in did), "a value that is wanted is turned away"
            if is_asked_for and self.total is not None:
                assert self.slots() <= max(slots, self.total), "more go on than the worker may begin"
            if Do.BEGIN in did:
                assert len(next(a.values for a in actions if a.do is Do.BEGIN)) == (post.handler.batch or 1)
        if kind == "unadmitted":
            assert did == [Do.TURN_AWAY]
        if kind == "failed" and Do.BEGIN in did:
            assert [a.values for a in actions if a.do is Do.BEGIN] == [[self.came]]
        if kind == "end":
            assert Do.FETCH in did, "a free slot is told of"
        if kind == "until":
            for each in actions:
                if each.do is Do.FETCH:
                    assert each.post.is_passed, "others go on when a handler has been full for a while"
                if each.do is Do.BEGIN:
                    assert Do.RECOUNT in did, "who receives learns that the batch lacks nothing any more"
            assert did, "a moment that comes leads to something"
        if kind.startswith("employ"):
            assert set(did) <= {Do.ARM}
        if kind == "close":
            assert set(did) <= {Do.RETURN, Do.ARM}
            assert not any(each.gathered for each in self.posts), "a batch of a closed queue goes back"
        # Whoever waits for a time is woken at that time.
        armed = {action.post: action.moment for action in actions if action.do is Do.ARM}
        for waiting, moment in armed.items():
            assert waiting.moment == moment
            assert waiting.state in (State.GATHERING, State.FULL)

    def check(self) -> None:
        gathered = [value for post in self.posts for value in post.gathered]
        assert all(count == 1 for count in self.passed_on.values()), "a value was passed on twice"
        found = [*self.passed_on, *gathered]
        assert sorted(found) == list(range(1, self.came + 1)), "each value is begun, kept, or turned away"
        for post in self.posts:
            assert post.running == self.handlings.count(post)
            assert bool(post.gathered) is (post.state is State.GATHERING)
            assert len(post.gathered) < (post.handler.batch or 1), "a full batch begins"
            is_full = post.running >= post.handler.concurrency and not post.gathered
            assert is_full is (post.state in (State.FULL, State.PASSED))
            if post.state is State.GATHERING:
                assert post.moment is not None, "a batch begins at a time"
                assert post.moment <= self.now + WITHIN
            elif post.state is State.FULL and not post.is_alone:
                assert post.moment is not None, "a full handler is passed at a time"
                assert post.moment >= self.now or post.moment >= post.last_parked - FARTHEST
            else:
                assert post.moment is None, "nobody passes a handler that is alone"
        if self.total is not None:
            assert self.roster.free == self.total - self.slots(), "each handling and each batch is counted once"
        employed = self.roster.handlers("orders")
        assert len(employed) != 1 or not self.roster.post(employed[0]).is_passed, "nobody passes one that is alone"
        if any(post.state is State.FULL and post.handler in employed for post in self.posts):
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


@pytest.mark.nightly
def test_a_row_that_is_broken_is_noticed() -> None:
    starts = [STARTS[name]() for name in ("one in batches", "two", "two, one in batches of one", "two, one in batches")]
    assert unnoticed(post_table, starts, 6) == []


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


def done(actions: Iterable[PostAction]) -> list[Do]:
    return [action.do for action in actions]


def test_a_batch_is_filled_up_though_the_worker_has_no_other_slot() -> None:
    roster, batched = Roster(1), handler(1, 3)
    roster.employ("orders", [batched], 100.0)
    assert roster.wanted("orders") == 3
    roster.post(batched).came("a", 100.0)
    assert roster.wanted("orders") == 2


def test_a_batch_begins_at_its_time_with_what_there_is() -> None:
    roster, batched = Roster(), handler(1, 3)
    roster.employ("orders", [batched], 100.0)
    (_, armed) = roster.post(batched).came("a", 100.0)
    assert armed.moment == 100.0 + WITHIN
    assert roster.due(101.9) == []
    begin, recount = roster.due(102.0)
    assert (begin.do, begin.values, recount.do) == (Do.BEGIN, ["a"], Do.RECOUNT)
    assert roster.wanted("orders") == 0


def test_a_handler_that_was_taken_off_ends_its_batch_and_is_forgotten() -> None:
    roster, batched, other = Roster(), handler(1, 3), handler(1)
    roster.employ("orders", [batched, other], 100.0)
    post = roster.post(batched)
    post.came("a", 100.0)
    roster.employ("orders", [other], 100.0)
    assert roster.post(batched) is post
    assert done(roster.due(102.0)) == [Do.BEGIN, Do.RECOUNT, Do.ARM]
    assert done(post.freed(103.0)) == [Do.FETCH]
    roster.employ("orders", [other], 103.0)
    assert roster.post(batched) is not post


def test_a_queue_that_was_opened_anew_outlasts_the_end_of_its_first_life() -> None:
    roster, first, second = Roster(), handler(1, 3), handler(1)
    roster.employ("orders", [first], 100.0)
    roster.post(first).came("a", 100.0)
    roster.employ("orders", [second], 100.0)
    (returned,) = roster.close("orders", [first], 100.0)
    assert (returned.do, returned.values) == (Do.RETURN, ["a"])
    assert roster.wanted("orders") == 1


@pytest.mark.parametrize("seconds", [0.0, 1.0], ids=["before it is passed", "while it is passed"])
def test_nobody_passes_a_handler_that_has_its_queue_alone_again(seconds: float) -> None:
    roster, busy, now = Roster(), handler(1), 100.0 + seconds
    roster.employ("orders", [busy, handler(1)], 100.0)
    post = roster.post(busy)
    post.came("a", 100.0)
    roster.due(now)
    assert roster.employ("orders", [busy], now) == []
    assert roster.due(now + PATIENCE) == []
    # A value that arrives for it goes back to the head.
    assert done(post.came("b", now)) == [Do.TURN_AWAY]
    assert post.parked(1, now) == (0.0, ())


# -- parking ---------------------------------------------------------------------------------------------------------


def passed(seconds: float) -> tuple[Post, float]:
    """The post of a handler that has been full for this long, and the time."""
    roster, busy = Roster(), handler(1)
    roster.employ("orders", [busy, handler(1)], 100.0)
    roster.post(busy).came("a", 100.0)
    assert not roster.post(busy).is_passed
    assert done(roster.due(100.0 + PATIENCE)) == [Do.FETCH]
    assert roster.post(busy).is_passed
    return roster.post(busy), 100.0 + seconds


def test_a_handler_that_is_full_for_a_moment_holds_up_the_others() -> None:
    roster, busy = Roster(), handler(1)
    roster.employ("orders", [busy, handler(1)], 100.0)
    post = roster.post(busy)
    assert done(post.came("a", 100.0)) == [Do.BEGIN, Do.ARM]
    assert roster.due(100.04) == []
    # A value that arrives for it meanwhile goes back to the head, and none passes it.
    assert post.parked(3, 100.04) == (0.0, ())
    post.freed(100.04)
    assert (post.state, post.moment) == (State.FREE, None)
    # When it is full again, the others are held up as long as the first time.
    post.came("b", 100.06)
    assert roster.due(100.10) == []
    assert done(roster.due(100.11)) == [Do.FETCH]


def test_the_pause_grows_with_the_time_for_which_it_has_been_full() -> None:
    pauses = []
    for seconds in (0.1, 2.0, 60.0):
        post, now = passed(seconds)
        pauses.append(post.parked(1, now)[0])
    assert [round(pause, 6) for pause in pauses] == [0.11, 0.51, 1.01]


def test_parked_values_come_again_in_their_order_and_at_most_100_a_second() -> None:
    post, now = passed(60)
    comes = []
    for _ in range(100):
        comes.append(now + post.parked(8, now)[0])
        now += 0.001
    assert comes == sorted(comes)
    assert comes[-1] - comes[0] > 99 * 8 * 0.01 - 1


def test_others_stand_behind_a_thousand_parked_values_and_are_held_up_again() -> None:
    post, now = passed(60)
    post.parked(900, now)
    assert post.is_passed
    assert done(post.parked(400, now)[1]) == [Do.ARM]
    assert not post.is_passed
    # Until the last one comes within ten seconds.
    assert post.moment == pytest.approx(now + 4.0)
    post.happened(Trigger.DUE, now + 4.1)
    assert post.is_passed
    # A handler that was free meanwhile is no exception.
    post.parked(400, now + 4.1)
    post.freed(now + 4.2)
    post.came("b", now + 4.2)
    assert post.moment is not None
    assert post.moment > now + 4.3


def test_ten_values_of_a_handler_that_never_ends_are_parked_once_a_second_each() -> None:
    post, now = passed(PATIENCE)
    due = sorted(now + post.parked(1, now)[0] for _ in range(10))
    count = 10
    while due[0] < 1000:
        now = due.pop(0)
        count += 1
        due = sorted([*due, now + post.parked(1, now)[0]])
    assert count <= 10 * (1000 - 100) + 100
