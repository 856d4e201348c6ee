"""Makes random histories that are right. The seed decides everything.

They come from the model: a running clock, some processes, and random steps with the outcomes of the model at that
moment. Answers are sometimes lost. So a checker that refuses one of them is wrong.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tests.proof.model import ABSENT, Item, Place, Step, after

__all__ = ["AHEAD_US", "MS", "ORDERED", "QUEUE", "Lines", "long", "right"]

Lines = list[dict[str, Any]]

QUEUE, ORDERED = "any", "ordered"
_START = 10**12
# The server's clock less the monotonic one.
AHEAD_US = 1_700_000_000_000_000
MS = 1_000_000
_OUTCOMES = {
    "ack": ("acked", "lost"),
    "reject": ("dead", "cancelled", "lost"),
    "nack": ("returned", "delayed", "cancelled", "lost"),
    "extend": ("extended", "cancelled", "lost"),
    "cancel": ("cancelled", "delivered", "unknown"),
    "reschedule": ("rescheduled", "delivered", "unknown"),
}


class _World:
    def __init__(self, seed: int, steps: int) -> None:
        self.rng = random.Random(seed)
        self.lines: Lines = []
        self._now = _START
        self._op = 0
        self._free = {f"p{number}": _START for number in range(6)}
        self._items: dict[str, Item] = {}
        self._leases: list[tuple[str, str]] = []
        self._line: list[tuple[int, int, str]] = []
        self._clock()
        for number in range(steps):
            self._now += round(self.rng.expovariate(1 / (4 * MS)))
            self.rng.choice(self._calls())()
            if number % 20 == 0:
                self._clock()
        self._now += 1000 * MS
        self._clock()
        self._look()
        self._now += 100 * MS
        self._clock()
        self.lines.sort(key=lambda line: line["time"])

    def _calls(self) -> list[Callable[[], None]]:
        calls = [self._offer, self._offer, self._take, self._receive, self._receive, self._redrive]
        calls += [self._offer_in_order, self._take_in_order]
        calls += [self._settle] * 3 if self._leases else []
        calls += [lambda: self._one("cancel"), lambda: self._one("reschedule")] if self._items else []
        return calls

    # -- steps -------------------------------------------------------------------------------------------------------

    @property
    def _server(self) -> int:
        return self._now // 1000 + AHEAD_US

    def _apply(self, item: str, step: Step) -> bool:
        states = [state for state, _ in after(self._items.get(item, ABSENT), step, self._server, self._server)]
        if states:
            self._items[item] = self.rng.choice(states)
        return bool(states)

    def _offer(self) -> None:
        named, asked, told = self.rng.random() < 0.5, [], []
        is_made, is_known = self._fate()
        for _ in range(self.rng.randint(1, 3)):
            item, delay = f"i{len(self._items)}", self.rng.choice((0, 5, self.rng.randint(1, 80)))
            self._items[item] = ABSENT
            due = -(-(self._server + 1000 * delay) // 1000)
            if is_made:
                self._apply(item, Step("offer", "offered", until=1000 * due, named=named))
            asked.append([item, delay])
            told.append(["offered", due])
        self._call("offer", asked, told, is_known, named=named)

    def _take(self) -> None:
        found = [item for item in self._shuffled() if self._apply(item, Step("take", "taken"))]
        self._call("take", len(found), found, True)

    def _receive(self) -> None:
        told = []
        deadline = self._server // 1000 + self.rng.randint(20, 120)
        for item in self._shuffled():
            lease = f"l{self._op}-{item}"
            if self._apply(item, Step("receive", "leased", lease, 1000 * deadline)):
                told.append([item, lease, self._server // 1000, deadline])
                self._leases.append((item, lease))
        self._call("receive", len(told), told, True)

    def _settle(self) -> None:
        f = self.rng.choice(("ack", "ack", "nack", "reject", "extend"))
        item, lease = self.rng.choice(self._leases[-12:])
        delay, until = self.rng.choice((0, 30)), self._server // 1000 + 100
        delay = 100 if f == "extend" else delay
        is_made, is_known = self._fate()
        outcome = "lost"
        for outcome in _OUTCOMES[f] if is_made else ():
            if delay and (f, outcome) == ("nack", "returned"):
                continue
            if self._apply(item, Step(f, outcome, lease, 1000 * until if f == "extend" else 0, 1000 * delay)):
                break
        told = [[outcome, until]] if f == "extend" else [outcome]
        self._call(f, [[item, lease]], told, is_known, delay=delay)

    def _one(self, f: str) -> None:
        item = self.rng.choice(list(self._items)[-12:])
        until = self._server // 1000 + 50
        is_made, is_known = self._fate()
        outcome = "unknown"
        for outcome in _OUTCOMES[f] if is_made else ():
            if self._apply(item, Step(f, outcome, until=1000 * until)):
                break
        told = [outcome] if f == "cancel" else [outcome, until if outcome == "rescheduled" else None]
        self._call(f, [item], told, is_known, delay=50)

    def _redrive(self) -> None:
        dead = [item for item, state in self._items.items() if state.place is Place.DEAD]
        for item in dead:
            self._apply(item, Step("redrive", "redriven"))
        self._call("redrive", None, len(dead), True)

    def _look(self) -> None:
        places = {}
        for item, state in self._items.items():
            if state.place in (Place.WAITING, Place.READY, Place.DEAD):
                places[item] = [state.place.value]
            elif state.place in (Place.LEASED, Place.VOID):
                places[item] = ["leased"]
        self._call("look", None, places, True)
        self._now += 100 * MS
        self._call("look", None, {item: ["waiting"] for _, _, item in self._line}, True, queue=ORDERED)

    # -- the ordered queue -------------------------------------------------------------------------------------------

    def _offer_in_order(self) -> None:
        delay = self.rng.choice((0, 10, self.rng.randint(1, 60)))
        due = -(-(self._server + 1000 * delay) // 1000)
        item = f"o{self._op}"
        self._line.append((due, self._op, item))
        self._call("offer", [[item, delay]], [["offered", due]], True, queue=ORDERED)

    def _take_in_order(self) -> None:
        due = sorted(row for row in self._line if 1000 * row[0] <= self._server)[:1]
        self._line = [row for row in self._line if row not in due]
        self._call("take", 1, [item for *_, item in due], True, queue=ORDERED)

    # -- lines -------------------------------------------------------------------------------------------------------

    def _fate(self) -> tuple[bool, bool]:
        """Whether a call is carried out, and whether its answer comes."""
        is_known = self.rng.random() > 0.06
        return is_known or self.rng.random() < 0.5, is_known

    def _shuffled(self) -> Sequence[str]:
        items = list(self._items)
        return self.rng.sample(items, min(len(items), 25))[: self.rng.randint(1, 25)]

    def _call(self, f: str, asked: Any, told: Any, is_known: bool, *, queue: str = QUEUE, **more: Any) -> None:
        self._op += 1
        free = [process for process, since in self._free.items() if since < self._now]
        if free:
            process = self.rng.choice(free)
        else:
            process = f"p{len(self._free)}"
            self._free[process] = _START
        began = self.rng.randint(max(self._free[process], self._now - 15 * MS), self._now)
        ended = self._now + self.rng.randint(1, 3 * MS)
        self._free[process] = ended + 1
        both = {"op": self._op, "process": process, "f": f, "queue": queue}
        self.lines.append({"type": "invoke", **both, "value": asked, **more, "time": began})
        if is_known:
            self.lines.append({"type": "ok", **both, "value": told, "time": ended})
        elif f == "extend" or self.rng.random() < 0.5:
            self.lines.append({"type": "info", **both, "value": None, "time": ended})

    def _clock(self) -> None:
        self.lines.append({"type": "clock", "time": self._now, "until": self._now + 1000, "server": self._server})


def right(seed: int, steps: int = 300) -> Lines:
    """A history that the model allows."""
    return _World(seed, steps).lines


def long(operations: int, seed: int = 0) -> Iterator[dict[str, Any]]:
    """A right history of at least so many operations, on many queues one after the other."""
    op = after = 0
    while op < operations:
        lines, last = right(seed, 400), op
        for line in lines:
            if "op" in line:
                last = max(last, op + line["op"])
                line.update(op=op + line["op"], queue=f"{line['queue']}-{seed}")
            # The clocks go on together.
            for name, unit in (("time", 1), ("until", 1), ("server", 1000)):
                if name in line:
                    line[name] += after // unit
            if line["f" if "f" in line else "type"] in ("offer", "receive", "extend", "reschedule"):
                _later(line, after // MS)
            yield line
        # In whole ms, as due times are.
        op, seed, after = last, seed + 1, (lines[-1]["time"] - _START) // MS * MS + MS


def _later(line: dict[str, Any], ms: int) -> None:
    """Moves the due times and deadlines of an answer."""
    told = line["value"]
    if line["type"] != "ok" or not told:
        return
    if line["f"] == "reschedule":
        told[1] = told[1] and told[1] + ms
        return
    for row in told:
        for place in range(1 if line["f"] != "receive" else 2, len(row)):
            row[place] = row[place] and row[place] + ms
