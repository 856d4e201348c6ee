"""Every policy of retries, with a source of chance that is given and without any clock."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from redisson_dq.errors import ArgumentError
from redisson_dq.working.retries import (
    Again,
    Backoff,
    GiveUp,
    Reject,
    Retry,
    Verdict,
    delays,
    exponential,
    fixed,
    policies,
    verdict,
)

NOW = timedelta(0)


def decide(
    retry: Any, error: BaseException, failures: int = 0, age: timedelta = NOW, chance: random.Random | None = None
) -> Verdict:
    return verdict(policies(retry), error, failures=failures, age=age, chance=chance or random.Random(7))


def delays_of(backoff: Backoff | Any, count: int) -> list[float]:
    """The delay after each of ``count`` failures."""
    found = []
    for failure in range(count):
        chosen = decide(Retry(limit=None, backoff=backoff), ValueError(), failures=failure)
        assert isinstance(chosen, Again)
        assert chosen.counted
        found.append(chosen.delay)
    return found


def test_none() -> None:
    assert decide(None, ValueError()) == GiveUp("no retry is wanted")


def test_fixed() -> None:
    assert delays_of(fixed(5), 3) == [5, 5, 5]
    assert delays_of(fixed(timedelta(milliseconds=20)), 2) == [0.02, 0.02]
    assert delays_of(fixed(0), 2) == [0, 0]


@pytest.mark.parametrize(
    ("given", "delays"),
    [
        (0.1, [0.1, 0.1, 0.1, 0.1]),
        (0, [0, 0, 0, 0]),
        (timedelta(minutes=1), [60, 60, 60, 60]),
        ([1, 5, 30], [1, 5, 30, 30]),
        ((1, timedelta(seconds=5)), [1, 5, 5, 5]),
        (range(1, 4), [1, 2, 3, 3]),
    ],
)
def test_a_delay_and_a_list_stand_for_themselves(given: Any, delays: list[float]) -> None:
    assert delays_of(given, 4) == delays


@pytest.mark.parametrize("given", [True, "5", b"5", [], ["a"], [1, -1], -1, float("nan"), {1: 2}, object()])
def test_what_is_no_delay_is_refused(given: Any) -> None:
    with pytest.raises(ArgumentError):
        Retry(backoff=given)


@pytest.mark.parametrize(
    ("retry", "text"),
    [
        (Retry(), "Retry(limit=10, backoff=exponential(1, 60, jitter=True))"),
        (Retry(""), "Retry(limit=10, backoff=exponential(1, 60, jitter=True))"),
        (Retry(limit=None, backoff=0.1), "Retry(limit=None, backoff=fixed(0.1))"),
        (Retry(limit=3, backoff=[1, 5, 30]), "Retry(limit=3, backoff=delays([1, 5, 30]))"),
        (Retry(backoff=math.ceil), "Retry(limit=10, backoff=ceil)"),
        (Retry(backoff=exponential(1, 2), max_age=60), "Retry(limit=10, backoff=exponential(1, 2), max_age=60)"),
        (Retry(backoff=1, on=KeyError), "Retry(limit=10, backoff=fixed(1), on=KeyError)"),
        (Retry(backoff=1, on=(KeyError, OSError)), "Retry(limit=10, backoff=fixed(1), on=(KeyError, OSError))"),
        (Retry("the printer is off", after=30), "Retry('the printer is off', after=30)"),
        (Retry(after=0.5, count=False), "Retry(after=0.5, count=False)"),
        (Retry("busy", limit=2, backoff=1), "Retry('busy', limit=2, backoff=fixed(1))"),
    ],
)
def test_it_shows_what_it_is(retry: Retry, text: str) -> None:
    assert repr(retry) == text


def test_a_list_whose_last_delay_stays() -> None:
    assert delays_of(delays([1, timedelta(seconds=10), 60]), 5) == [1, 10, 60, 60, 60]


def test_exponential_up_to_a_cap() -> None:
    assert delays_of(exponential(1, 60), 8) == [1, 2, 4, 8, 16, 32, 60, 60]


def test_exponential_after_any_number_of_failures() -> None:
    for failures in (0, 62, 1023, 1024, 10**6, 10**30):
        assert decide(Retry(limit=None, backoff=exponential(0.5, 3600)), ValueError(), failures=failures) == Again(
            0.5 if failures == 0 else 3600
        )
    assert decide(Retry(limit=None, backoff=exponential(0, 10)), ValueError(), failures=500) == Again(0)


def test_full_jitter_is_between_zero_and_the_delay() -> None:
    backoff = exponential(1, 60, jitter=True)
    chance = random.Random(1)
    for failure, longest in enumerate([1, 2, 4, 8, 16, 32, 60, 60]):
        found = [decide(Retry(limit=None, backoff=backoff), ValueError(), failure, chance=chance) for _ in range(300)]
        spans = [each.delay for each in found if isinstance(each, Again)]
        assert len(spans) == 300
        assert 0 <= min(spans) < longest / 10
        assert longest * 0.9 < max(spans) <= longest


def test_the_same_chance_gives_the_same_delays() -> None:
    def some(seed: int) -> list[Verdict]:
        chance = random.Random(seed)
        policy = Retry(limit=None, backoff=exponential(1, 60, jitter=True))
        return [decide(policy, ValueError(), failure, chance=chance) for failure in range(10)]

    assert some(3) == some(3)
    assert some(3) != some(4)


def test_a_function_of_the_number_of_the_failure() -> None:
    assert delays_of(lambda failure: timedelta(minutes=failure), 3) == [60, 120, 180]


@pytest.mark.parametrize("given", [-1, float("nan"), float("inf"), "soon", None])
def test_a_function_that_gives_no_delay(given: Any) -> None:
    with pytest.raises(ArgumentError, match="a backoff function"):
        decide(Retry(backoff=lambda failure: given), ValueError())


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_given_up_by_count(limit: int) -> None:
    policy = Retry(limit=limit, backoff=fixed(1))
    found = [decide(policy, ValueError(), failures) for failures in range(limit)]
    assert found == [Again(1)] * (limit - 1) + [GiveUp(f"failed {limit} times")]
    # A handler whose limit was lowered meanwhile.
    assert decide(policy, ValueError(), failures=100) == GiveUp("failed 101 times")


def test_given_up_by_age() -> None:
    policy = Retry(limit=None, backoff=fixed(10), max_age=60)
    assert decide(policy, ValueError(), age=timedelta(seconds=50)) == Again(10)
    # The next try would begin too late.
    assert decide(policy, ValueError(), age=timedelta(seconds=51)) == GiveUp("older than 0:01:00")
    # The server's clock may have been set back.
    assert decide(policy, ValueError(), age=timedelta(seconds=-5)) == Again(10)


def test_by_the_class_of_the_exception() -> None:
    retry = [
        Retry(limit=9, backoff=fixed(1), on=ConnectionError),
        Retry(limit=2, backoff=fixed(2), on=(KeyError, IndexError)),
        Retry(limit=4, backoff=fixed(3), on=LookupError),
    ]
    # The first that fits, subclasses included.
    assert decide(retry, BrokenPipeError(), failures=5) == Again(1)
    assert decide(retry, KeyError("x")) == Again(2)
    assert decide(retry, KeyError("x"), failures=1) == GiveUp("failed 2 times")
    assert decide(retry, LookupError("x"), failures=2) == Again(3)
    assert decide(retry, ValueError("x")) == GiveUp("no retry is wanted")
    assert decide(Retry(on=Exception), KeyboardInterrupt()) == GiveUp("no retry is wanted")
    assert decide(Retry(on=BaseException, backoff=fixed(1)), SystemExit()) == Again(1)


def test_a_retry_that_is_raised() -> None:
    policy = Retry(limit=3, backoff=fixed(10), on=ConnectionError, max_age=100)
    assert decide(policy, Retry(after=2)) == Again(2)
    assert decide(policy, Retry(after=timedelta(minutes=1))) == Again(60)
    # Without a time the policy says when.
    assert decide(policy, Retry("later")) == Again(10)
    # The policy's limits hold, also where it is for other exceptions.
    assert decide(policy, Retry(after=2), failures=2) == GiveUp("failed 3 times")
    assert decide(policy, Retry(after=101)) == GiveUp("older than 0:01:40")
    # One that does not count has no limit but the age.
    assert decide(policy, Retry(after=2, count=False), failures=50) == Again(2, counted=False)
    assert decide(policy, Retry(after=101, count=False)) == GiveUp("older than 0:01:40")


def test_a_retry_that_is_raised_where_there_is_no_policy() -> None:
    assert decide(None, Retry(after=2)) == Again(2)
    assert decide(None, Retry(after=2), failures=9) == GiveUp("failed 10 times")


def test_a_reject_is_final() -> None:
    assert decide(Retry(on=BaseException), Reject("no such customer")) == GiveUp("rejected")


def test_what_they_say() -> None:
    assert str(Retry("the printer is off", after=3)) == "the printer is off"
    assert str(Retry(after=3)) == "asked for a retry"
    assert str(Reject("no such customer")) == "no such customer"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"limit": 0}, "limit="),
        ({"limit": -1}, "limit="),
        ({"limit": True}, "limit="),
        ({"limit": 2.0}, "limit="),
        ({"backoff": "5"}, "backoff="),
        ({"backoff": [1, "2"]}, "backoff="),
        ({"max_age": -1}, "max_age="),
        ({"after": -1}, "after="),
        ({"after": "soon"}, "after="),
        ({"after": True}, "after="),
        ({"count": 1}, "count="),
        ({"on": "ValueError"}, "on="),
        ({"on": (ValueError, 5)}, "on="),
        ({"on": ()}, "on="),
        ({"reason": 5}, "reason"),
    ],
)
def test_wrong_arguments(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        Retry(**arguments)


@pytest.mark.parametrize(
    "retry", [5, "5", [5], {"limit": 5}, ValueError(), Retry(after=1), [Retry(), Retry(count=False)], Retry]
)
def test_wrong_policies(retry: Any) -> None:
    with pytest.raises(ArgumentError, match="retry="):
        policies(retry)


def test_wrong_backoffs() -> None:
    wrong: list[Callable[[], Backoff]] = [
        lambda: fixed(-1),
        lambda: delays([]),
        lambda: delays([1, -1]),
        lambda: exponential(5, 1),
        lambda: exponential(float("inf"), float("inf")),
    ]
    for make in wrong:
        with pytest.raises(ArgumentError):
            make()


@pytest.mark.parametrize("backoff", [exponential, lambda: 5, lambda failure, error: 5])
def test_a_backoff_that_cannot_be_called_with_a_number_is_refused(backoff: Any) -> None:
    with pytest.raises(ArgumentError, match=r"exponential\(1, 60\), or a function of the number"):
        Retry(backoff=backoff)
