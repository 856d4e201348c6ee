"""Makes random histories of queues with bounds: keys that have limits and rates, and a capacity. One may be broken."""

from __future__ import annotations

import random
from typing import Any

from tests.proof.making import AHEAD_US, MS, Lines

__all__ = ["BOUNDS", "with_bounds"]

#: What can be broken.
BOUNDS = ("limit of a key", "rate of a key", "order of a key", "capacity")
_KEYED, _ROOM, _KEYS = "keyed", "room", ("blue", "red")
# Values of this key have a rate, and no order.
_RATED = "red"
_LIMITS = {"blue": 1, "red": 2}
_RATE, _CAPACITY = [1, 60, 1], 4


class _Bounded:
    def __init__(self, lines: Lines, rng: random.Random, broken: str) -> None:
        self._lines, self._rng, self._broken = lines, rng, broken
        self._op = max(line.get("op", 0) for line in lines)
        self._now: int = min(line["time"] for line in lines) + 10 * MS
        self._end: int = max(line["time"] for line in lines)
        self._ready: dict[str, list[str]] = {key: [] for key in _KEYS}
        self._held: dict[str, list[tuple[str, str]]] = {key: [] for key in _KEYS}
        self._tokens = dict.fromkeys(_KEYS, (float(_RATE[2]), 0))
        self._room: list[str] = []

    def run(self) -> bool:
        """Whether what was to be broken is."""
        steps = [self._offer, self._offer, self._receive, self._receive, self._ack, self._let_in, self._take]
        while self._now < self._end - 20 * MS:
            self._rng.choice(steps)()
            self._now += self._rng.randint(3 * MS, 12 * MS)
        return not self._broken

    def _offer(self) -> None:
        item = f"k{self._op}"
        self._ready[self._rng.choice(_KEYS)].append(item)
        self._call("offer", _KEYED, [[item, 0]], [["offered", self._ms]])

    def _receive(self) -> None:
        key = self._rng.choice(_KEYS)
        ready, held = self._ready[key], self._held[key]
        tokens, since = self._tokens[key]
        tokens = min(_RATE[2], tokens + (self._ms - since) * _RATE[0] / _RATE[1]) if since else tokens
        wanted, place = "", 0
        if len(held) >= _LIMITS[key]:
            wanted = BOUNDS[0]
        elif key == _RATED and tokens < 1:
            wanted = BOUNDS[1] if tokens < 0.5 else "none"
        elif self._broken == BOUNDS[2] and key != _RATED and len(ready) > 1:
            wanted, place = BOUNDS[2], 1
        if not ready or (wanted and wanted != self._broken):
            return
        if wanted:
            self._broken = ""
        item, lease = ready.pop(place), f"k{self._op}-lease"
        held.append((item, lease))
        self._tokens[key] = tokens - 1, self._ms
        bounds = {"limit": _LIMITS[key], **({"rate": _RATE} if key == _RATED else {})}
        row = [item, lease, self._ms, self._ms + 10_000]
        self._call("receive", _KEYED, 1, [row], bounds, {"keys": [key]})

    def _ack(self) -> None:
        held = self._held[self._rng.choice(_KEYS)]
        if held:
            item, lease = held.pop(0)
            self._call("ack", _KEYED, [[item, lease]], ["acked"])

    def _let_in(self) -> None:
        if len(self._room) == _CAPACITY:
            if self._broken != BOUNDS[3]:
                return
            self._broken = ""
        if len(self._room) <= _CAPACITY:
            self._room.append(f"r{self._op}")
            self._call("offer", _ROOM, [[self._room[-1], 0]], [["offered", self._ms]], {"capacity": _CAPACITY})

    def _take(self) -> None:
        if self._room:
            self._call("take", _ROOM, 1, [self._room.pop(0)])

    @property
    def _ms(self) -> int:
        return (self._now // 1000 + AHEAD_US) // 1000

    def _call(
        self, f: str, queue: str, asked: Any, told: Any, begin: dict[str, Any] | None = None, end: Any = None
    ) -> None:
        self._op += 1
        both = {"op": self._op, "process": f"bound-{self._op % 3}", "f": f, "queue": queue}
        self._lines.append({"type": "invoke", **both, "value": asked, **(begin or {}), "time": self._now - MS})
        self._lines.append({"type": "ok", **both, "value": told, **(end or {}), "time": self._now + MS})


def with_bounds(lines: Lines, rng: random.Random, broken: str = "") -> bool:
    """Adds calls on queues with bounds. False where there was no place to break this one."""
    done = _Bounded(lines, rng, broken).run()
    lines.sort(key=lambda line: line["time"])
    return done
