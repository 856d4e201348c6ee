"""Decides about a value whose handler failed: when it comes again, or that it is given up."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from typing import Union

import attrs

from redisson_dq._common.signatures import answers, takes
from redisson_dq._common.texts import described, shown
from redisson_dq.errors import ArgumentError
from redisson_dq.scheduling.times import Delay, seconds_of

__all__ = [
    "Again",
    "Backoff",
    "GiveUp",
    "Reject",
    "Retry",
    "Verdict",
    "delays",
    "exponential",
    "fixed",
    "policies",
    "verdict",
]

#: After this many doublings every delay has reached its cap.
_MOST_DOUBLINGS = 1000

_DEFAULT_LIMIT = 10


class Backoff:
    """How long to wait after a failure. Made by :func:`fixed`, :func:`exponential` and :func:`delays`."""

    def seconds(self, failure: int, chance: random.Random) -> float:
        """The delay after failure number ``failure``, from 1 on."""
        raise NotImplementedError


@attrs.frozen(repr=False)
class _Delays(Backoff):
    spans: tuple[float, ...]

    def __repr__(self) -> str:
        texts = [f"{span:g}" for span in self.spans]
        return f"fixed({texts[0]})" if len(texts) == 1 else f"delays([{', '.join(texts)}])"

    def seconds(self, failure: int, chance: random.Random) -> float:
        return self.spans[min(failure, len(self.spans)) - 1]


@attrs.frozen(repr=False)
class _Exponential(Backoff):
    first: float
    cap: float
    jitter: bool

    def __repr__(self) -> str:
        return f"exponential({self.first:g}, {self.cap:g}{', jitter=True' if self.jitter else ''})"

    def seconds(self, failure: int, chance: random.Random) -> float:
        try:
            longest = min(self.cap, math.ldexp(self.first, min(failure - 1, _MOST_DOUBLINGS)))
        except OverflowError:
            longest = self.cap
        return chance.uniform(0, longest) if self.jitter else longest


@attrs.frozen(repr=False)
class _Function(Backoff):
    function: Callable[[int], Delay]

    def __repr__(self) -> str:
        return getattr(self.function, "__qualname__", type(self.function).__qualname__)

    def seconds(self, failure: int, chance: random.Random) -> float:
        return seconds_of(self.function(failure), "what a backoff function gives")


def fixed(delay: Delay) -> Backoff:
    """A constant delay (seconds or a timedelta) after each failure.

    >>> retry = Retry(limit=3, backoff=fixed(5))
    """
    return _Delays((seconds_of(delay, "a delay"),))


def delays(spans: Iterable[Delay]) -> Backoff:
    """The first delay after the first failure, and so on; the last one from then on.

    >>> retry = Retry(limit=5, backoff=delays([1, 10, 60]))
    """
    return _delays(spans, "delays(): each delay")


def exponential(first: Delay, cap: Delay, *, jitter: bool = False) -> Backoff:
    """``first``, then twice as long after each failure, up to ``cap``.

    With ``jitter=True`` the delay is any between zero and that (full jitter), so values that failed together do not
    come again together.

    >>> retry = Retry(limit=8, backoff=exponential(1, 60, jitter=True))
    """
    if not isinstance(jitter, bool):
        raise ArgumentError(f"exponential(): jitter= must be True or False, not {shown(jitter)}")
    made = _Exponential(seconds_of(first, "a delay"), seconds_of(cap, "a cap"), jitter)
    if made.cap < made.first:
        raise ArgumentError(f"exponential(): the cap {shown(cap)} is below the first delay {shown(first)}")
    return made


#: How long to wait: a delay, a sequence of them, or a :class:`Backoff`. A function gets the number of the failure, from
#: 1 on, and gives a delay.
_AnyBackoff = Union[Backoff, Delay, Sequence[Delay], Callable[[int], Delay]]


class Retry(Exception):
    """When a value whose handler failed comes again. A policy for ``retry=``, and an exception that a handler raises.

    As a policy:

    - ``limit``: the value is given up when its handler has failed that many times; None: never
    - ``backoff``: the delay before each try: seconds, a timedelta, a list whose last delay stays, :func:`exponential`,
      or a function of the number of the failure
    - ``max_age``: the value is given up if the next try would begin later than that after its first receipt
    - ``on``: the class of exceptions that the policy is for, or several; all unless given, ``SystemExit`` included

    Raised by a handler:

    - ``after``: when the value comes again: seconds or a timedelta; else after the delay of the policy
    - ``count``: False: this is not counted as a failure

    >>> Retry(limit=3, backoff=[1, 5, 30])
    Retry(limit=3, backoff=delays([1, 5, 30]))
    >>> policy = Retry(limit=5, backoff=exponential(1, 60), on=ConnectionError)
    >>> raise Retry("the printer is off", after=30)
    Traceback (most recent call last):
    redisson_dq.working.retries.Retry: the printer is off
    """

    def __init__(
        self,
        reason: str = "",
        *,
        limit: int | None = _DEFAULT_LIMIT,
        backoff: _AnyBackoff | None = None,
        max_age: Delay | None = None,
        on: type[BaseException] | tuple[type[BaseException], ...] = BaseException,
        after: Delay | None = None,
        count: bool = True,
    ) -> None:
        super().__init__(reason)
        if not isinstance(reason, str):
            raise ArgumentError(f"Retry(): a reason must be a str, not {shown(reason)}; a policy's settings go by name")
        if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 1):
            raise ArgumentError(f"Retry(): limit= must be a number from 1 on, or None for no limit, not {shown(limit)}")
        if not isinstance(count, bool):
            raise ArgumentError(f"Retry(): count= must be True or False, not {shown(count)}")
        self.reason = reason
        self.limit = limit
        self.backoff = _backoff(backoff)
        self.max_age = None if max_age is None else timedelta(seconds=seconds_of(max_age, "max_age="))
        self.on = _classes(on)
        self.after = None if after is None else seconds_of(after, "after=")
        self.count = count

    def __str__(self) -> str:
        return self.reason or "asked for a retry"

    def __repr__(self) -> str:
        parts = [repr(self.reason)] if self.reason else []
        if self.is_policy or self.limit != _DEFAULT_LIMIT:
            parts.append(f"limit={self.limit}")
        if self.is_policy or self.backoff != _DEFAULT:
            parts.append(f"backoff={self.backoff!r}")
        if self.max_age is not None:
            parts.append(f"max_age={self.max_age.total_seconds():g}")
        if self.on != (BaseException,):
            names = ", ".join(each.__qualname__ for each in self.on)
            parts.append(f"on={names}" if len(self.on) == 1 else f"on=({names})")
        if self.after is not None:
            parts.append(f"after={self.after:g}")
        if not self.count:
            parts.append("count=False")
        return f"Retry({', '.join(parts)})"

    @property
    def is_policy(self) -> bool:
        """Whether nothing in it is for a Retry that is raised."""
        return not self.reason and self.after is None and self.count


class Reject(Exception):
    """Raised by a handler: the value will never do. It goes to the dead-letter list with this reason, without a retry.

    >>> raise Reject("no such customer")
    Traceback (most recent call last):
    redisson_dq.working.retries.Reject: no such customer
    """

    def __init__(self, reason: object = "") -> None:
        super().__init__(reason)
        # An exception may be a reason too. Reject is raised where no error about its argument would be seen.
        self.reason = reason if isinstance(reason, str) else "" if reason is None else described(reason)


@attrs.frozen
class Again:
    """The value comes again after ``delay`` seconds. ``counted``: the failure counts."""

    delay: float
    counted: bool = True


@attrs.frozen
class GiveUp:
    """The value is given up. ``why`` says what was exhausted."""

    why: str


Verdict = Union[Again, GiveUp]


def policies(retry: Retry | Sequence[Retry] | None) -> tuple[Retry, ...]:
    """The policies that ``retry=`` names. The first that fits is used. Raises ArgumentError."""
    if retry is None:
        return ()
    found = (retry,) if isinstance(retry, Retry) else tuple(retry) if isinstance(retry, (list, tuple)) else None
    if found is None or not all(isinstance(each, Retry) for each in found):
        raise ArgumentError(
            f"retry= must be a Retry such as Retry(limit=5), several of them, or None for none, not {shown(retry)}"
        )
    for each in found:
        if each.after is not None or not each.count:
            raise ArgumentError("retry=: after= and count= are for a Retry that is raised; give backoff=fixed(...)")
    return found


def verdict(
    retry: Sequence[Retry], error: BaseException, *, failures: int, age: timedelta, chance: random.Random
) -> Verdict:
    """Decides about a value.

    ``failures`` is how often its handler had failed before, ``age`` how long ago it was received for the first time.
    """
    if isinstance(error, Reject):
        return GiveUp("rejected")
    raised = error if isinstance(error, Retry) else None
    policy = next((each for each in retry if raised is not None or isinstance(error, each.on)), None)
    if policy is None:
        if raised is None:
            return GiveUp("no retry is wanted")
        # A handler that raises Retry wants a retry, whatever it was declared with.
        policy = Retry()
    counted = raised is None or raised.count
    failure = failures + 1
    if counted and policy.limit is not None and failure >= policy.limit:
        return GiveUp(f"failed {failure} times")
    delay = raised.after if raised is not None and raised.after is not None else None
    if delay is None:
        delay = policy.backoff.seconds(failure, chance)
    if policy.max_age is not None and age.total_seconds() + delay > policy.max_age.total_seconds():
        return GiveUp(f"older than {policy.max_age}")
    return Again(delay, counted)


def _delays(spans: Iterable[Delay], what: str) -> Backoff:
    if not isinstance(spans, Iterable) or isinstance(spans, (str, bytes)):
        raise ArgumentError(f"{what} must be one of a list, not {shown(spans)}")
    made = tuple(seconds_of(span, what) for span in spans)
    if not made:
        raise ArgumentError(f"{what} is used in turn, and the list is empty")
    return _Delays(made)


def _backoff(given: _AnyBackoff | None) -> Backoff:
    if given is None:
        return _DEFAULT
    if isinstance(given, Backoff):
        return given
    if isinstance(given, Sequence) and not isinstance(given, (str, bytes)):
        return _delays(given, "Retry(): backoff=: each delay")
    if isinstance(given, (int, float, timedelta)):
        return _delays([given], "Retry(): backoff=")
    if not (callable(given) and takes(given, 1) and answers(given)):
        raise ArgumentError(
            "Retry(): backoff= is seconds or a timedelta, a list of them, exponential(1, 60), or a function of the "
            f"number of the failure, not {shown(given)}"
        )
    return _Function(given)


def _classes(on: object) -> tuple[type[BaseException], ...]:
    given: tuple[object, ...] = on if isinstance(on, tuple) else (on,)
    found = tuple(each for each in given if isinstance(each, type) and issubclass(each, BaseException))
    if not found or len(found) < len(given):
        raise ArgumentError(f"Retry(): on= must be a class of exceptions, or a tuple of them, not {shown(on)}")
    return found


_DEFAULT = exponential(1, 60, jitter=True)
