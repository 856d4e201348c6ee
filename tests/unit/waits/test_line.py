"""When each waiter is served, and what happens to the values that a caller got. There is no server, no thread
and no waiting.
"""

from __future__ import annotations

import contextlib
import math
from typing import Any

import pytest

from redisson_dq._concurrency import Inbox, Promise
from redisson_dq.errors import ClosedError, RedisConnectionError, RedissonDQError
from redisson_dq.scheduling.clock import SYSTEM
from redisson_dq.waits.line import Answer, Farewell, Lifeline, Line, Waiter
from redisson_dq.wire.taken import Taken

# The time of the tests. Timeouts count from 0.
NOW = 10.0


class Callers:
    """Callers of one queue, and the events that they tell its worker."""

    def __init__(self) -> None:
        self.inbox: Inbox[Waiter | str] = Inbox(SYSTEM)
        self.line = Line("orders", self.inbox, contextlib.nullcontext())
        self.events: list[Any] = []

    def caller(self, limit: int = 1, timeout: float | None = None, lifeline: Lifeline | None = None) -> Waiter:
        """One that has put itself into the inbox."""
        deadline = math.inf if timeout is None else timeout
        waiter = Waiter(limit, deadline, promise(), self.events.append, lifeline=lifeline)
        self.inbox.put(waiter)
        return waiter

    def in_line(self, *limits: int, timeout: float | None = None) -> list[Waiter]:
        made = [self.caller(limit, timeout) for limit in limits]
        self.line.admit()
        return made

    def tied(self, limit: int = 1) -> tuple[Lifeline, Waiter]:
        """One with a lifeline, as ``take()`` makes it."""
        lifeline = Lifeline()
        waiter = self.caller(limit, lifeline=lifeline)
        self.line.admit()
        return lifeline, waiter


def promise() -> Promise[Answer]:
    return Promise(SYSTEM)


@pytest.fixture
def callers() -> Callers:
    return Callers()


def values(*names: str) -> list[Taken]:
    return [Taken(key="orders", data=name.encode()) for name in names]


def names(taken: list[Taken]) -> str:
    return "".join(value.data.decode() for value in taken)


def answer(waiter: Waiter) -> str | RedissonDQError | None:
    """What its caller reads: values, an error, or nothing yet."""
    if not waiter.answer.filled:
        return None
    found = waiter.answer.value
    return found if isinstance(found, RedissonDQError) else names(found)


def test_each_is_given_up_to_its_limit_in_the_order_of_coming(callers: Callers) -> None:
    first, second, third = callers.in_line(1, 3, 2)
    left = callers.line.give(values(*"abcde"))
    assert (answer(first), answer(second), answer(third), names(left)) == ("a", "bcd", "e", "")


def test_what_nobody_waits_for_is_left(callers: Callers) -> None:
    assert names(callers.line.give(values("a"))) == "a"
    (only,) = callers.in_line(1)
    assert names(callers.line.give(values(*"abc"))) == "bc"
    assert answer(only) == "a"
    assert not callers.line.anyone


def test_a_caller_in_the_inbox_is_served_once_it_was_admitted(callers: Callers) -> None:
    waiter = callers.caller()
    assert not callers.line.anyone
    assert names(callers.line.give(values("a"))) == "a"
    callers.line.admit()
    assert waiter in callers.line.waiting
    assert callers.line.give(values("b")) == []
    assert answer(waiter) == "b"


def test_admit_begins_with_the_caller_that_woke_the_worker(callers: Callers) -> None:
    woke = Waiter(1, math.inf, promise(), callers.events.append)
    behind = callers.caller()
    callers.line.admit(woke)
    callers.line.give(values(*"ab"))
    assert (answer(woke), answer(behind)) == ("a", "b")


def test_a_caller_that_left_before_it_was_seen_is_not_admitted(callers: Callers) -> None:
    waiter = callers.caller()
    assert callers.line.leave(waiter) == []
    callers.line.admit()
    assert not callers.line.anyone
    assert names(callers.line.give(values("a"))) == "a"


@pytest.mark.parametrize("place", [0, 1, 2])
def test_one_may_leave_from_anywhere_in_the_line(callers: Callers, place: int) -> None:
    waiting = callers.in_line(1, 1, 1)
    leaver = waiting.pop(place)
    assert callers.line.leave(leaver) == []
    callers.line.give(values(*"ab"))
    assert [answer(waiter) for waiter in waiting] == ["a", "b"]
    assert answer(leaver) is None


def test_what_a_caller_was_given_comes_back_once_when_it_leaves(callers: Callers) -> None:
    lifeline, waiter = callers.tied(limit=2)
    callers.line.give(values(*"ab"))
    lifeline.let_go()
    assert callers.events == [waiter]
    assert names(callers.line.leave(waiter)) == "ab"
    assert callers.line.leave(waiter) == []


def test_what_has_gone_elsewhere_does_not_come_back(callers: Callers) -> None:
    _lifeline, waiter = callers.tied(limit=3)
    given = values(*"abc")
    callers.line.give(given)
    waiter.forget([given[1]])
    assert names(callers.line.leave(waiter)) == "ac"


def test_a_lifeline_that_is_dropped_is_reported_with_its_waiter(callers: Callers) -> None:
    lifeline, waiter = callers.tied()
    callers.line.give(values("a"))
    assert not callers.line.is_at_rest
    del lifeline
    (event,) = callers.events
    assert isinstance(event, Farewell)
    assert event.waiter is waiter
    assert names(callers.line.leave(waiter)) == "a"
    assert callers.line.is_at_rest


def test_a_lifeline_that_kept_its_values_is_dropped_in_silence(callers: Callers) -> None:
    lifeline, waiter = callers.tied()
    callers.line.give(values("a"))
    lifeline.keep()
    assert waiter.is_settled
    assert callers.line.is_at_rest
    del lifeline
    assert callers.events == []


def test_what_has_not_come_yet_is_not_kept(callers: Callers) -> None:
    lifeline, waiter = callers.tied()
    lifeline.keep()
    assert not waiter.is_settled
    callers.line.give(values("a"))
    del lifeline
    assert [event.waiter for event in callers.events] == [waiter]


def test_who_expired_is_told_so_once_a_command_was_sent_for_it(callers: Callers) -> None:
    first, second = callers.in_line(1, 1, timeout=60)
    callers.line.expire(first)
    callers.line.answer_expired()
    assert answer(first) is None
    callers.line.asked()
    callers.line.answer_expired()
    assert (answer(first), answer(second)) == ("", None)
    assert callers.line.anyone


def test_nobody_is_told_that_nothing_is_there_behind_a_command_that_has_failed(callers: Callers) -> None:
    (waiter,) = callers.in_line(1, timeout=60)
    callers.line.asked()
    callers.line.broke()
    callers.line.expire(waiter)
    callers.line.answer_expired()
    assert answer(waiter) is None
    assert callers.line.is_unserved(NOW)
    # It may have taken a value all the same.
    callers.line.doubt()
    assert callers.line.is_in_doubt
    callers.line.asked()
    callers.line.answer_expired()
    assert answer(waiter) == ""


def test_a_value_that_comes_before_the_answer_goes_to_the_caller_whose_time_is_over(callers: Callers) -> None:
    (waiter,) = callers.in_line(1, timeout=60)
    callers.line.expire(waiter)
    assert not callers.line.anyone
    callers.line.give(values("a"))
    callers.line.asked()
    callers.line.answer_expired()
    assert answer(waiter) == "a"


def test_a_time_that_was_over_in_the_inbox_counts(callers: Callers) -> None:
    waiter = callers.caller(timeout=60)
    callers.line.expire(waiter)
    callers.line.admit()
    assert not callers.line.anyone
    assert callers.line.is_unserved(NOW)
    callers.line.asked()
    assert not callers.line.is_unserved(NOW)
    callers.line.answer_expired()
    assert answer(waiter) == ""


def test_an_error_is_the_answer_of_all_who_expired_asked_for_or_not(callers: Callers) -> None:
    first, second = callers.in_line(1, 1, timeout=60)
    callers.line.expire(first)
    gone = RedisConnectionError("orders: gone")
    callers.line.answer_expired(gone)
    assert (answer(first), answer(second)) == (gone, None)


def test_patience_is_that_of_the_caller_with_the_latest_end(callers: Callers) -> None:
    assert callers.line.patience(NOW) == -math.inf
    callers.in_line(1, timeout=60)
    (patient,) = callers.in_line(1, timeout=3600)
    assert callers.line.patience(NOW) == 3590
    (endless,) = callers.in_line(1)
    assert callers.line.patience(NOW) == math.inf
    callers.line.leave(endless)
    assert callers.line.patience(NOW) == 3590
    callers.line.leave(patient)
    # Never too short: it may still be that of one who has left.
    assert callers.line.patience(NOW) == 3590


def test_an_empty_line_forgets_the_patience_of_those_before(callers: Callers) -> None:
    callers.in_line(1, timeout=3600)
    callers.line.give(values("a"))
    callers.in_line(1, timeout=60)
    assert callers.line.patience(NOW) == 50


def test_no_worker_takes_what_another_one_is_about_to_take(callers: Callers) -> None:
    callers.in_line(1, 3)
    assert callers.line.claim(NOW) == 4
    assert callers.line.claim(NOW) == 0
    callers.in_line(2)
    assert callers.line.claim(NOW) == 2
    callers.line.unclaim(6)
    assert callers.line.claim(NOW, in_hand=5) == 1


def test_one_claim_is_bounded_unless_one_caller_wants_more(callers: Callers) -> None:
    callers.in_line(*[1] * 1500)
    assert callers.line.claim(NOW) == 1000
    callers.line.unclaim(1000)
    callers.line.give(values(*["a"] * 1500))
    callers.in_line(5000)
    assert callers.line.wants_many
    assert callers.line.claim(NOW) == 5000


def test_a_failure_and_a_close_answer_everybody(callers: Callers) -> None:
    waiting = callers.in_line(1, 2)
    failure = RedisConnectionError("orders: gone")
    callers.line.fail(failure)
    assert [answer(waiter) for waiter in waiting] == [failure, failure]
    (in_line,) = callers.in_line(1)
    in_inbox = callers.caller()
    callers.line.shut()
    late = callers.caller()
    callers.line.admit()
    assert [type(answer(waiter)) for waiter in (in_line, in_inbox, late)] == [ClosedError] * 3


def test_a_withdrawn_wait_ends_unless_it_has_something(callers: Callers) -> None:
    served, waiting = callers.in_line(1, 1)
    callers.line.give(values("a"))
    for waiter in (served, waiting):
        callers.line.withdraw(waiter)
    assert answer(served) == "a"
    assert isinstance(answer(waiting), ClosedError)
    assert not callers.line.anyone
