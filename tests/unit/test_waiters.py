"""Which waiter is served when, and what happens to the values that a caller was given. There is no server, no thread
and no waiting.
"""

from __future__ import annotations

import math
from typing import Any

import pytest

from redisson_dq._sync.receiving.waiters import Farewell, Lifeline, Waiter, Waiters
from redisson_dq.errors import ClosedError, RedisConnectionError, RedissonDQError
from redisson_dq.wire.taken import Taken


class Callers:
    """Callers of one queue, and the events that they tell its worker."""

    def __init__(self) -> None:
        self.waiters = Waiters("orders")
        self.events: list[Any] = []

    def caller(self, limit: int = 1, timeout: float | None = None) -> Waiter:
        """One that has put itself into the inbox, and has no lifeline."""
        waiter = Waiter(limit, timeout, self.events.append, None)
        self.waiters.inbox.put(waiter)
        return waiter

    def in_line(self, *limits: int, timeout: float | None = None) -> list[Waiter]:
        made = [self.caller(limit, timeout) for limit in limits]
        self.waiters.admit()
        return made

    def tied(self, limit: int = 1) -> tuple[Lifeline, Waiter]:
        """One with a lifeline, as ``take()`` makes it."""
        lifeline, waiter = Lifeline(), self.caller(limit)
        waiter.farewell = Farewell(lifeline, waiter)
        lifeline.waiter = waiter
        self.waiters.admit()
        return lifeline, waiter


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
    left = callers.waiters.give(values(*"abcde"))
    assert (answer(first), answer(second), answer(third), names(left)) == ("a", "bcd", "e", "")


def test_what_nobody_waits_for_is_left(callers: Callers) -> None:
    assert names(callers.waiters.give(values("a"))) == "a"
    (only,) = callers.in_line(1)
    assert names(callers.waiters.give(values(*"abc"))) == "bc"
    assert answer(only) == "a"
    assert not callers.waiters.anyone


def test_a_caller_in_the_inbox_is_served_once_it_was_admitted(callers: Callers) -> None:
    waiter = callers.caller()
    assert not callers.waiters.anyone
    assert names(callers.waiters.give(values("a"))) == "a"
    callers.waiters.admit()
    assert callers.waiters.is_waiting(waiter)
    assert callers.waiters.give(values("b")) == []
    assert answer(waiter) == "b"


def test_admit_begins_with_the_caller_that_woke_the_worker(callers: Callers) -> None:
    woke = Waiter(1, None, callers.events.append, None)
    behind = callers.caller()
    callers.waiters.admit(woke)
    callers.waiters.give(values(*"ab"))
    assert (answer(woke), answer(behind)) == ("a", "b")


def test_a_caller_that_left_before_it_was_seen_is_not_admitted(callers: Callers) -> None:
    waiter = callers.caller()
    assert callers.waiters.leave(waiter) == []
    callers.waiters.admit()
    assert not callers.waiters.anyone
    assert names(callers.waiters.give(values("a"))) == "a"


@pytest.mark.parametrize("place", [0, 1, 2])
def test_one_may_leave_from_anywhere_in_the_line(callers: Callers, place: int) -> None:
    waiting = callers.in_line(1, 1, 1)
    leaver = waiting.pop(place)
    assert callers.waiters.leave(leaver) == []
    callers.waiters.give(values(*"ab"))
    assert [answer(waiter) for waiter in waiting] == ["a", "b"]
    assert answer(leaver) is None


def test_what_a_caller_was_given_comes_back_once_when_it_leaves(callers: Callers) -> None:
    lifeline, waiter = callers.tied(limit=2)
    callers.waiters.give(values(*"ab"))
    lifeline.let_go()
    assert callers.events == [waiter]
    assert names(callers.waiters.leave(waiter)) == "ab"
    assert callers.waiters.leave(waiter) == []


def test_what_has_gone_elsewhere_does_not_come_back(callers: Callers) -> None:
    _lifeline, waiter = callers.tied(limit=3)
    given = values(*"abc")
    callers.waiters.give(given)
    waiter.forget([given[1]])
    assert names(callers.waiters.leave(waiter)) == "ac"


def test_a_lifeline_that_is_dropped_is_reported_with_its_waiter(callers: Callers) -> None:
    lifeline, waiter = callers.tied()
    callers.waiters.give(values("a"))
    assert not callers.waiters.is_at_rest
    del lifeline
    (event,) = callers.events
    assert isinstance(event, Farewell)
    assert event.waiter is waiter
    assert names(callers.waiters.leave(waiter)) == "a"
    assert callers.waiters.is_at_rest


def test_a_lifeline_that_kept_its_values_is_dropped_in_silence(callers: Callers) -> None:
    lifeline, waiter = callers.tied()
    callers.waiters.give(values("a"))
    lifeline.keep()
    assert waiter.is_settled
    assert callers.waiters.is_at_rest
    del lifeline
    assert callers.events == []


def test_what_has_not_come_yet_is_not_kept(callers: Callers) -> None:
    lifeline, waiter = callers.tied()
    lifeline.keep()
    assert not waiter.is_settled
    callers.waiters.give(values("a"))
    del lifeline
    assert [event.waiter for event in callers.events] == [waiter]


def test_who_expired_is_told_so_once_a_command_was_sent_for_it(callers: Callers) -> None:
    first, second = callers.in_line(1, 1, timeout=60)
    callers.waiters.expire(first)
    callers.waiters.answer_expired()
    assert answer(first) is None
    callers.waiters.asked()
    callers.waiters.answer_expired()
    assert (answer(first), answer(second)) == ("", None)
    assert callers.waiters.anyone


def test_a_value_that_comes_before_the_answer_goes_to_the_caller_whose_time_is_over(callers: Callers) -> None:
    (waiter,) = callers.in_line(1, timeout=60)
    callers.waiters.expire(waiter)
    assert not callers.waiters.anyone
    callers.waiters.give(values("a"))
    callers.waiters.asked()
    callers.waiters.answer_expired()
    assert answer(waiter) == "a"


def test_a_time_that_was_over_in_the_inbox_counts(callers: Callers) -> None:
    waiter = callers.caller(timeout=60)
    callers.waiters.expire(waiter)
    callers.waiters.admit()
    assert not callers.waiters.anyone
    assert callers.waiters.is_unserved
    callers.waiters.asked()
    assert not callers.waiters.is_unserved
    callers.waiters.answer_expired()
    assert answer(waiter) == ""


def test_an_error_is_the_answer_of_all_who_expired_asked_for_or_not(callers: Callers) -> None:
    first, second = callers.in_line(1, 1, timeout=60)
    callers.waiters.expire(first)
    gone = RedisConnectionError("orders: gone")
    callers.waiters.answer_expired(gone)
    assert (answer(first), answer(second)) == (gone, None)


def test_patience_is_that_of_the_caller_with_the_latest_end(callers: Callers) -> None:
    assert callers.waiters.patience() == -math.inf
    callers.in_line(1, timeout=60)
    (patient,) = callers.in_line(1, timeout=3600)
    assert 3000 < callers.waiters.patience() <= 3600
    (endless,) = callers.in_line(1)
    assert callers.waiters.patience() == math.inf
    callers.waiters.leave(endless)
    assert 3000 < callers.waiters.patience() <= 3600
    callers.waiters.leave(patient)
    # Never too short: it may still be that of one who has left.
    assert callers.waiters.patience() > 50


def test_an_empty_line_forgets_the_patience_of_those_before(callers: Callers) -> None:
    callers.in_line(1, timeout=3600)
    callers.waiters.give(values("a"))
    callers.in_line(1, timeout=60)
    assert callers.waiters.patience() <= 60


def test_no_worker_takes_what_another_one_is_about_to_take(callers: Callers) -> None:
    callers.in_line(1, 3)
    assert callers.waiters.claim() == 4
    assert callers.waiters.claim() == 0
    callers.in_line(2)
    assert callers.waiters.claim() == 2
    callers.waiters.unclaim(6)
    assert callers.waiters.claim(in_hand=5) == 1


def test_one_claim_is_bounded_unless_one_caller_wants_more(callers: Callers) -> None:
    callers.in_line(*[1] * 1500)
    assert callers.waiters.claim() == 1000
    callers.waiters.unclaim(1000)
    callers.waiters.give(values(*["a"] * 1500))
    callers.in_line(5000)
    assert callers.waiters.wants_many
    assert callers.waiters.claim() == 5000


def test_a_failure_and_a_close_answer_everybody(callers: Callers) -> None:
    waiting = callers.in_line(1, 2)
    failure = RedisConnectionError("orders: gone")
    callers.waiters.fail(failure)
    assert [answer(waiter) for waiter in waiting] == [failure, failure]
    (in_line,) = callers.in_line(1)
    in_inbox = callers.caller()
    callers.waiters.shut()
    late = callers.caller()
    callers.waiters.admit()
    assert [type(answer(waiter)) for waiter in (in_line, in_inbox, late)] == [ClosedError] * 3


def test_a_withdrawn_wait_ends_unless_it_has_something(callers: Callers) -> None:
    served, waiting = callers.in_line(1, 1)
    callers.waiters.give(values("a"))
    for waiter in (served, waiting):
        callers.waiters.withdraw(waiter)
    assert answer(served) == "a"
    assert isinstance(answer(waiting), ClosedError)
    assert not callers.waiters.anyone
