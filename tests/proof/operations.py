"""Turns a history into the steps of each item in the model, each between two moments.

A batch is one step for each of its items. A step whose outcome is unknown has no end: it may have been made or not.
"""

from __future__ import annotations

import sys
import zlib
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import attrs

from tests.proof.model import Step

__all__ = ["NEVER", "Admission", "Excuse", "Happened", "Operation", "happened"]

#: Later than everything: the end of a step without an answer.
NEVER = 1 << 62
# A clock that changes by more than this between two readings, in us, was set.
_SET_US = 250_000
# The drift of two clocks between two readings.
_DRIFT_US = 500


class Operation(NamedTuple):
    """One step of one item. ``began`` and ``ended`` are ns of the monotonic clock, ``low`` and ``high`` us of the
    server's: it was made between them. ``steps`` are the outcomes that it may have had.
    """

    began: int
    ended: int
    low: int
    high: int
    steps: tuple[Step, ...]
    process: str
    op: int


@attrs.frozen
class Excuse:
    """A fault took items with it that were offered or delivered in this time."""

    kind: str
    since: int
    until: int
    why: str


@attrs.frozen(kw_only=True)
class Admission:
    """A lease under a limit or a rate (tokens, us, most) of its key. Times are us of the server's clock."""

    item: str
    lease: str
    since: int
    deadline: int
    limit: int
    rate: tuple[int, float, int] | None


@attrs.define
class Happened:
    """The contents of a history."""

    #: By queue, then by item.
    queues: dict[str, dict[str, list[Operation]]] = attrs.field(factory=lambda: defaultdict(lambda: defaultdict(list)))
    excuses: list[Excuse] = attrs.field(factory=list)
    #: By queue: the number of items in calls with unknown outcomes.
    in_hand: dict[str, int] = attrs.field(factory=lambda: defaultdict(int))
    #: Queues that were looked at in the end.
    looked: dict[str, Operation] = attrs.field(factory=dict)
    #: By queue: items found in two places.
    torn: dict[str, list[str]] = attrs.field(factory=lambda: defaultdict(list))
    redrives: dict[str, list[Operation]] = attrs.field(factory=lambda: defaultdict(list))
    #: Leases that their receivers renew in the background.
    renewed: set[str] = attrs.field(factory=set)
    #: By queue and key.
    admitted: dict[tuple[str, str], list[Admission]] = attrs.field(factory=lambda: defaultdict(list))
    #: By lease of those: when it may have been ended at the earliest, us of the server's clock.
    let_go: dict[str, int] = attrs.field(factory=dict)
    #: By queue, by item: for how many there was room when it was offered.
    capacities: dict[str, dict[str, int]] = attrs.field(factory=lambda: defaultdict(dict))
    #: Queues of which a receive had no answer.
    unsure: set[str] = attrs.field(factory=set)
    operations: int = 0
    counts: dict[str, int] = attrs.field(factory=lambda: defaultdict(int))
    part: tuple[int, int] = (0, 1)
    #: Whether the server's clock was set meanwhile.
    is_set: bool = False

    def is_of_part(self, item: str) -> bool:
        number, parts = self.part
        return parts == 1 or zlib.crc32(item.encode()) % parts == number


class _Clock:
    """Between which times of the server's clock a moment was."""

    def __init__(self, looks: list[tuple[int, int, int]]) -> None:
        looks.sort()
        self._times = [began for began, _, _ in looks]
        # The server's clock less the monotonic one, in us: at least, at most.
        self._least = [server - ended // 1000 - _DRIFT_US for _, ended, server in looks]
        self._most = [server - began // 1000 + _DRIFT_US for began, _, server in looks]
        self.is_set = any(
            low > most + _SET_US or high < least - _SET_US
            for low, high, least, most in zip(self._least[1:], self._most[1:], self._least, self._most, strict=False)
        )

    def span(self, began: int, ended: int) -> tuple[int, int]:
        """The least and the most that the server's clock can have said from one moment to another."""
        if not self._times:
            return began // 1000, ended if ended == NEVER else ended // 1000
        first = max(0, bisect_right(self._times, began) - 1)
        last = len(self._times) if ended == NEVER else bisect_left(self._times, ended) + 1
        if self.is_set:
            low, high = min(self._least[first:last]), max(self._most[first:last])
        else:
            # Neither clock was set, so any look near by is good.
            low, high = max(self._least[first : first + 2]), min(self._most[max(first, last - 2) : last])
        return began // 1000 + low, ended if ended == NEVER else ended // 1000 + high


def happened(lines: Callable[[], Iterable[dict[str, Any]]], part: tuple[int, int] = (0, 1)) -> Happened:
    """Everything of a history, item by item. Its lines are read twice: once for the server's clock.

    ``part``: only the items of one part of so many, so that a long history needs less memory.
    """
    clock = _Clock([(line["time"], line["until"], line["server"]) for line in lines() if line["type"] == "clock"])
    found = Happened(is_set=clock.is_set, part=part)
    begun: dict[int, dict[str, Any]] = {}
    for line in lines():
        type = line["type"]
        if type == "invoke":
            begun[line["op"]] = line
        elif type == "excuse":
            found.excuses.append(Excuse(line["f"], line["since"], line["until"], line["why"]))
        elif type != "clock":
            _add(found, clock, begun.pop(line["op"]), line)
    for line in begun.values():
        _add(found, clock, line, {"type": "info", "value": None})
    for queue, look in found.looked.items():
        for operations in found.queues[queue].values():
            if all(op.op != look.op for op in operations):
                operations.append(look)
    for queue, redrives in found.redrives.items():
        for operations in found.queues[queue].values():
            operations += _redriven(operations, redrives)
    return found


def _redriven(operations: list[Operation], redrives: list[Operation]) -> Iterator[Operation]:
    """For each time that an item may have become a dead letter, a redrive of the whole queue that may have met it.

    It may have met others only. The search knows no such call that ends, so its effect may come late there.
    """
    for op in operations:
        if any(step.outcome == "dead" for step in op.steps):
            met = next((each for each in redrives if each.ended >= op.began), None)
            if met is not None:
                yield met._replace(ended=NEVER)


def _add(found: Happened, clock: _Clock, begin: dict[str, Any], end: dict[str, Any]) -> None:
    found.operations += 1
    found.counts[f"{begin['f']} {end['type']}"] += 1
    if end["type"] == "fail":
        return
    queue, f, is_known = begin["queue"], begin["f"], end["type"] == "ok"
    began, ended = begin["time"], end["time"] if is_known else NEVER
    low, high = clock.span(began, ended)
    made = (sys.intern(begin["process"]), begin["op"])
    items = found.queues[queue]
    if f == "look":
        if is_known:
            found.looked[queue] = Operation(began, ended, low, high, (Step("look", "gone"),), *made)
            for item, places in end["value"].items():
                if not found.is_of_part(item):
                    continue
                items[item].append(Operation(began, ended, low, high, (Step("look", places[0]),), *made))
                if len(places) > 1:
                    found.torn[queue].append(item)
        return
    if f == "redrive":
        if is_known and end["value"] == 0:
            return
        found.redrives[queue].append(Operation(began, ended, low, NEVER, (Step("redrive", "redriven"),), *made))
        return
    if f == "take" and not is_known:
        found.in_hand[queue] += end.get("most", 0)
    _bound(found, begin, end, low)
    if begin.get("renew"):
        found.renewed.update(lease for _, lease, *_ in end["value"] or ())
    for item, steps, at in _steps(f, begin, end, is_known):
        if not found.is_of_part(item):
            continue
        if found.is_set and items[item]:
            # It may have been moved when the clock was further than now.
            latest = max(high, clock.span(items[item][0].began, ended)[1])
            items[item].append(Operation(began, ended, low, latest, steps, *made))
        elif at is None:
            items[item].append(Operation(began, ended, low, high, steps, *made))
        else:
            # One script may have leased values for several callers, before the last of them has called.
            since = min(began, began - 1000 * (low - 1000 * at))
            items[item].append(Operation(since, ended, 1000 * at, min(high, 1000 * at + 999), steps, *made))


def _bound(found: Happened, begin: dict[str, Any], end: dict[str, Any], low: int) -> None:
    """Notes what bounds the call was under, and which leases it may have ended."""
    queue, f = begin["queue"], begin["f"]
    if f == "receive" and end["type"] != "ok":
        found.unsure.add(queue)
    for (item, lease, since, deadline), key in zip(end.get("value") or (), end.get("keys") or (), strict=False):
        tokens, per, most = begin.get("rate") or (0, 0, 0)
        rate = (tokens, 1000 * per, most) if tokens else None
        limit = begin.get("limit") or 0
        found.admitted[queue, key].append(
            Admission(item=item, lease=lease, since=1000 * since, deadline=1000 * deadline, limit=limit, rate=rate)
        )
        found.let_go[lease] = NEVER
    if f in ("ack", "nack", "reject"):
        for _, lease in begin["value"]:
            if lease in found.let_go:
                found.let_go[lease] = min(low, found.let_go[lease])
    if begin.get("capacity") is not None:
        for item, _ in begin["value"]:
            found.capacities[queue][item] = begin["capacity"]


_TAKEN = (Step("take", "taken"),)
# The outcomes that a step without an answer may have had.
_OUTCOMES = {
    "ack": ("acked",),
    "nack": ("returned", "delayed", "dead", "cancelled"),
    "reject": ("dead", "cancelled"),
    "extend": ("extended", "cancelled"),
    "cancel": ("cancelled",),
    "reschedule": ("rescheduled",),
}


def _steps(
    f: str, begin: dict[str, Any], end: dict[str, Any], is_known: bool
) -> Iterator[tuple[str, tuple[Step, ...], int | None]]:
    """Each item of a call, the outcomes that its step may have had, and when it was made on the server's clock."""
    asked, told = begin["value"], end["value"]
    delay_us = round(1000 * (begin.get("delay") or 0))
    # Nobody knows when a step without an answer was made: when it began, or when it was given up.
    delays = {delay_us, delay_us + (end.get("time", begin["time"]) - begin["time"]) // 1000}
    if f == "offer":
        named = bool(begin.get("named"))
        for (item, delay), answer in zip(asked, told if is_known else [None] * len(asked), strict=True):
            outcome, due = answer or ("offered", None)
            due = due or begin.get("due")
            step = Step("offer", outcome, until=1000 * due if due else 0, delay=round(1000 * delay), named=named)
            yield item, (step,), None
    elif f == "take":
        for item in told or ():
            yield item, _TAKEN, None
    elif f == "receive":
        for item, lease, received, deadline in told or ():
            yield item, (Step("receive", "leased", lease, 1000 * deadline),), received
    elif f in ("cancel", "reschedule"):
        outcome, until = (*(told or ("", 0)), 0)[:2]
        outcomes = (outcome,) if is_known else _OUTCOMES[f]
        yield asked[0], tuple(Step(f, each, until=1000 * (until or 0), delay=delay_us) for each in outcomes), None
    else:
        for number, (item, lease) in enumerate(asked):
            outcome, until = "", 0
            if is_known:
                outcome, until = told[number] if f == "extend" else (told[number], 0)
            outcomes = (outcome,) if is_known else _OUTCOMES[f]
            made = [(each, after) for each in outcomes for after in (delays if f == "extend" else (delay_us,))]
            yield item, tuple(Step(f, each, lease, 1000 * (until or 0), after) for each, after in made), None
