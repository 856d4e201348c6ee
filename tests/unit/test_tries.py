"""Parts that Redis refuses for one cause try one after the other. The test moves the time."""

from __future__ import annotations

import heapq
from collections.abc import Callable

import pytest

from redisson_dq.scheduling.tries import ACCEPTED, Tries

_LONGEST = 5.0


class Time:
    """The time, which the test sets."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        return self.now


class Parts:
    """Parts that pause for some seconds at most, and try again and again."""

    def __init__(self, count: int, commands: float, *, tells: bool) -> None:
        """A part that ``tells`` reports that it was not refused."""
        self.clock = Time()
        self.tries = Tries(self.clock)  # type: ignore[arg-type]
        self.commands, self.tells = commands, tells
        self.is_refused: Callable[[int], bool] = lambda part: True
        self.sent: list[tuple[float, int]] = []
        self.well: dict[int, float] = {}
        self._alarms: list[tuple[float, int, int]] = []
        self._numbers = dict.fromkeys(range(count), 0)
        self._woken: list[int] = []
        for part in range(count):
            self._try(part)

    def until(self, moment: float) -> None:
        while self._alarms and self._alarms[0][0] <= moment:
            at, number, part = heapq.heappop(self._alarms)
            if number != self._numbers[part]:
                continue
            self.clock.now = max(at, self.clock.now)
            self._try(part)
        self.clock.now = moment

    def _try(self, part: int) -> None:
        now = self.clock.monotonic()
        self.tries.begins(part)
        self.sent.append((now, part))
        self._numbers[part] += 1
        if self.is_refused(part):
            self.well.pop(part, None)
            pause = self.tries.refused(part, "NOPERM", _LONGEST, lambda: self._woken.append(part), self.commands)
            heapq.heappush(self._alarms, (now + pause, self._numbers[part], part))
        else:
            self.well[part] = now
            if self.tells:
                self.tries.succeeded(part)
        while self._woken:
            self._try(self._woken.pop())

    def rate(self, since: float) -> float:
        sent = [at for at, _ in self.sent if at > since]
        return len(sent) * self.commands / (self.clock.monotonic() - since)


@pytest.mark.parametrize("count", [1, 2, 13, 100, 500])
@pytest.mark.parametrize("commands", [1, 3, 6])
def test_a_lasting_refusal_costs_few_commands_whatever_the_number_of_parts(count: int, commands: int) -> None:
    parts = Parts(count, commands, tells=True)
    began = parts.clock.monotonic()
    parts.until(began + 1000)
    assert parts.rate(began) <= 4.5
    # Each of them has its turn.
    assert {part for _, part in parts.sent[count:]} == set(range(count))


@pytest.mark.parametrize("tells", [True, False])
@pytest.mark.parametrize("count", [1, 13, 500])
def test_all_go_on_soon_after_the_end_of_a_refusal(count: int, tells: bool) -> None:
    parts = Parts(count, 6, tells=tells)
    parts.until(began := parts.clock.monotonic() + 30)
    parts.is_refused = lambda part: False
    parts.until(began + 30)
    assert len(parts.well) == count
    assert max(parts.well.values()) - began <= (_LONGEST if tells else _LONGEST + 15 * ACCEPTED)


def test_a_part_that_is_well_again_lets_few_others_try_that_are_still_refused() -> None:
    parts = Parts(100, 1, tells=True)
    parts.until(began := parts.clock.monotonic() + 30)
    parts.is_refused = lambda part: part >= 10
    parts.until(began + 100)
    assert set(parts.well) == set(range(10))
    assert parts.rate(began) <= 5.0


def test_a_part_alone_pauses_for_its_own_seconds_and_not_behind_those_of_another_cause() -> None:
    clock = Time()
    tries = Tries(clock)  # type: ignore[arg-type]
    for part in range(100):
        tries.refused(part, "NOPERM", 1.0, lambda: None, 10)
    assert tries.refused("alone", "OOM", 0.5, lambda: None) == 0.5
    clock.now += 0.5
    tries.begins("alone")
    # It is refused for the others' cause now, and goes to the end of their line.
    assert tries.refused("alone", "NOPERM", 1.0, lambda: None) > 100
    tries.forget("alone")
    tries.refused("alone", "OOM", 0.5, lambda: None)
    assert tries.refused("alone", None, 0.1, lambda: None) == 0.1


def test_a_part_that_stays_alone_pauses_for_its_own_seconds_each_time() -> None:
    clock = Time()
    tries = Tries(clock)  # type: ignore[arg-type]
    for seconds in (0.1, 0.2, 0.4):
        assert tries.refused("alone", "NOPERM", seconds, lambda: None, 3) == pytest.approx(seconds)
        clock.now += seconds
        tries.begins("alone")
    # The next part comes behind it, and from then on they take turns.
    tries.refused("alone", "NOPERM", 0.1, lambda: None, 3)
    assert tries.refused("other", "NOPERM", 0.1, lambda: None, 3) == pytest.approx(0.85)
    clock.now += 0.1
    tries.begins("alone")
    assert tries.refused("alone", "NOPERM", 0.2, lambda: None, 3) == pytest.approx(1.5)


def test_a_try_with_many_commands_holds_the_others_up_for_little_time() -> None:
    clock = Time()
    tries = Tries(clock)  # type: ignore[arg-type]
    tries.refused("first", "NOPERM", 1.0, lambda: None, 3)
    many = tries.refused("many", "NOPERM", 1.0, lambda: None, 100)
    assert tries.refused("second", "NOPERM", 1.0, lambda: None, 3) == pytest.approx(many + 2)
    clock.now += many
    tries.begins("many")
    # It is called again when its commands are paid for.
    assert tries.refused("many", "NOPERM", 1.0, lambda: None, 100) == pytest.approx(50)


@pytest.mark.parametrize("commands", [1, 6, 40])
def test_parts_that_came_and_left_delay_nobody(commands: float) -> None:
    """As listeners that are subscribed and unsubscribed while Redis refuses them."""
    clock = Time()
    tries = Tries(clock)  # type: ignore[arg-type]
    tries.refused("stays", "NOPERM", 0.5, lambda: None, commands)
    for number in range(1000):
        clock.now += 0.05
        tries.refused(number, "NOPERM", 0.5, lambda: None, commands)
        tries.forget(number)
    tries.begins("stays")
    tries.refused("another", "NOPERM", 0.5, lambda: None, commands)
    assert tries.refused("stays", "NOPERM", 0.5, lambda: None, commands) <= max(_LONGEST, 2 * commands)


@pytest.mark.parametrize("commands", [1, 6, 40])
def test_a_part_that_pauses_because_of_others_tries_when_these_have_left(commands: float) -> None:
    clock = Time()
    tries = Tries(clock)  # type: ignore[arg-type]
    woken: list[int] = []
    pauses = [
        tries.refused(number, "NOPERM", 0.5, lambda number=number: woken.append(number), commands)  # type: ignore[misc]
        for number in range(30)
    ]
    for number in range(29):
        tries.forget(number)
    # Those that left were woken before at most once each, as long as others had made them pause.
    assert woken.count(29) == (pauses[-1] > 0.5 + max(2.0, commands / 2))
    assert len(woken) == len(set(woken))
