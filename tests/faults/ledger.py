"""Tracks each item by its identity, and compares its fate with the allowed ones.

An item is named ``item:<load>:<number>``; its name is, or is in, the value that is offered. The ledger records every
step: before an offer is sent, its outcome, and each take of an item. At the end, :meth:`Ledger.verdict` compares these
with the items in Redis, with the items lost with connections, and with the rules of the load.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tests.faults.gate import LostReply
from tests.faults.rules import Rules
from tests.proof.history import History

__all__ = ["Finding", "Item", "Ledger", "Pardon", "Verdict"]

# Seconds around the moment at which the server's clock was set.
_UNSURE = 1.0


@dataclass
class Item:
    """The record of an item. Times are of this machine's clock, in epoch seconds."""

    name: str
    offered: float
    delay: float
    #: ``asked`` (no answer yet, or an inconclusive one), ``in``, ``refused`` or ``cancelled``.
    state: str = "asked"
    taken: list[float] = field(default_factory=list)
    #: The times at which it was received under a lease.
    delivered: list[float] = field(default_factory=list)
    #: An ack was sent and had no answer.
    maybe_acked: bool = False


@dataclass(frozen=True)
class Pardon:
    """The items that a fault may lose: those that were offered or taken between two moments."""

    kind: str  # "lost" or "twice"
    since: float
    until: float
    why: str

    def covers(self, item: Item) -> bool:
        return any(self.since <= moment <= self.until for moment in (item.offered, *item.taken, *item.delivered))


@dataclass(frozen=True)
class Finding:
    """A way in which a run breaks a promise."""

    kind: str
    text: str
    items: tuple[str, ...] = ()

    def __str__(self) -> str:
        shown = ", ".join(self.items[:5]) + (", ..." if len(self.items) > 5 else "")
        return f"{self.kind}: {self.text}" + (f" ({shown})" if shown else "")


@dataclass
class Verdict:
    """The outcome of all items of a load."""

    counts: dict[str, int]
    findings: list[Finding]
    latest: float

    def __str__(self) -> str:
        told = ", ".join(f"{count:,} {name}" for name, count in self.counts.items() if count or name == "offered")
        return "; ".join([told, f"latest {self.latest:.3f} s", *map(str, self.findings)])


class Ledger:
    """The items of a load. Its methods may be called from any thread."""

    def __init__(self, load: str, rules: Rules) -> None:
        self.load = load
        self.rules = rules
        self.items: dict[str, Item] = {}
        self.pardons: list[Pardon] = []
        self.findings: list[Finding] = []
        #: The number of items that calls in doubt may have had in hand, for calls that may lose items.
        self.in_hand = 0
        self._mutex = threading.Lock()
        self._numbers = 0
        self._forgotten = 0
        # Taken before the offer was recorded, because reports of several processes come in any order. By name: when it
        # was noticed.
        self._held_twice: dict[str, float] = {}
        self._unknown: dict[str, list[float]] = {}
        self.last_taken = 0.0

    # -- told by the load --------------------------------------------------------------------------------------------

    def next(self, delay: float) -> str:
        """The name of an item that is about to be offered."""
        with self._mutex:
            self._numbers += 1
            name = f"item:{self.load}:{self._numbers}"
        self.asked(name, delay)
        return name

    def asked(self, name: str, delay: float, at: float | None = None) -> None:
        """An offer is about to be sent. ``at`` is its time if another process reports it."""
        with self._mutex:
            self.items[name] = Item(name, time.time() if at is None else at, delay)
            self.items[name].taken += self._unknown.pop(name, [])

    def told(self, name: str, delay: float, at: float) -> None:
        """The same for an item that another process has named."""
        with self._mutex:
            self._numbers += 1
        self.asked(name, delay, at)

    def answered(self, names: Iterable[str], state: str) -> None:
        with self._mutex:
            for name in names:
                # An item that was taken before the answer came may be forgotten.
                if name in self.items:
                    self.items[name].state = state

    def unsure(self, names: Iterable[str]) -> None:
        """Withdraws a refusal that may not have applied to all items."""
        with self._mutex:
            for name in names:
                if name in self.items and self.items[name].state == "refused":
                    self.items[name].state = "asked"

    def took(self, names: Collection[str], at: float | None = None) -> None:
        if not names:
            return
        at = time.time() if at is None else at
        with self._mutex:
            self.last_taken = time.time()
            for name in names:
                item = self.items.get(name)
                if item is None:
                    self._unknown.setdefault(str(name), []).append(at)
                else:
                    item.taken.append(at)

    def delivered(self, name: str) -> None:
        """It was received under a lease."""
        with self._mutex:
            if name in self.items:
                self.items[name].delivered.append(time.time())
            else:
                self._unknown.setdefault(name, [])

    def held_twice(self, name: str) -> None:
        """The item was received under a lease while another lease on it lasted."""
        with self._mutex:
            self._held_twice.setdefault(name, time.time())

    def maybe_acked(self, name: str) -> None:
        """An ack had no answer."""
        with self._mutex:
            if name in self.items:
                self.items[name].maybe_acked = True

    def killed(self, most: int) -> None:
        """A process ended that may have had ``count`` items in hand."""
        with self._mutex:
            self.in_hand += most

    def ended_without_telling(self, most: int, *, cancelled: bool = False) -> None:
        """A call ended with an error, or was cancelled, and may have taken ``count`` items."""
        if self.rules.lost_with_cancel if cancelled else self.rules.at_once:
            with self._mutex:
                self.in_hand += most

    def found(self, kind: str, text: str) -> None:
        with self._mutex:
            if not any(finding.kind == kind and finding.text == text for finding in self.findings):
                self.findings.append(Finding(kind, text))

    def pardon(self, kind: str, since: float, until: float, why: str) -> None:
        with self._mutex:
            self.pardons.append(Pardon(kind, since, until, why))

    def forget(self, before: float) -> None:
        """Drops items that are done since then. If such an item comes again, it counts as never offered."""
        with self._mutex:
            done = [
                name
                for name, item in self.items.items()
                if (len(item.taken) == 1 and item.taken[0] < before and item.state in ("in", "asked"))
                or (not item.taken and item.offered < before and item.state in ("refused", "cancelled"))
            ]
            taken = sum(len(self.items[name].taken) for name in done)
            for name in done:
                del self.items[name]
            self._forgotten += taken

    # -- asked by the run --------------------------------------------------------------------------------------------

    @property
    def taken(self) -> int:
        with self._mutex:
            return self._forgotten + sum(len(item.taken) for item in self.items.values())

    def never_begun(self, before: float) -> list[Item]:
        """Those that Redis has accepted, that were due before this time, and that nobody has got since."""
        with self._mutex:
            items = list(self.items.values())
        return [
            item
            for item in items
            if item.state == "in" and not item.taken and not item.delivered and item.offered + item.delay < before
        ]

    def verdict(
        self,
        left: Mapping[str, Sequence[str]],
        lost_replies: Collection[LostReply],
        *,
        queues: Collection[str] = (),
        skews: Sequence[tuple[float, float]] = (),
    ) -> Verdict:
        """The verdict. ``left`` are the items still in Redis, ``skews`` the times and steps of the server's clock.

        A reply for which the client itself did not wait excuses nothing.
        """
        rules, findings = self.rules, list(self.findings)
        in_redis = {name: len(places) for name, places in left.items()}
        replies = self._of_mine(lost_replies, queues)
        dropped = {name for reply in replies if reply.ended_by == "client" for name in reply.held or ()}
        replies = [reply for reply in replies if rules.lost_with_drop or reply.ended_by != "client"]
        held = {name for reply in replies for name in reply.held or ()} if rules.lost_with_reply else set()
        unseen = sum(reply.most for reply in replies if reply.held is None) if rules.lost_with_reply else 0
        items = list(self.items.values())

        gone = [item for item in items if item.state == "in" and not item.taken and not in_redis.get(item.name)]
        excused = [item for item in gone if item.name in held or item.maybe_acked or self._pardoned("lost", item)]
        known = {item.name for item in excused}
        lost = [item for item in gone if item.name not in known]
        if len(lost) > unseen + self.in_hand:
            text = f"{len(lost)} lost, {unseen + self.in_hand} allowed beside {len(excused)} known"
            if dropped:
                text += f"; {len(dropped)} were in replies whose connection the client closed"
            findings.append(Finding("lost", text, tuple(item.name for item in lost)))
        twice = [item for item in items if len(item.taken) + in_redis.get(item.name, 0) > 1]
        if wrong := [item.name for item in twice if not rules.twice and not self._pardoned("twice", item)]:
            findings.append(Finding("twice", f"{len(wrong)} delivered more than once", tuple(wrong)))
        # A lease lasts by the server's clock. Setting the clock forward ends it.
        both = [
            item
            for item in items
            if (noticed := self._held_twice.get(item.name))
            and len(set(_in_effect(skews, min(item.delivered), noticed))) == 1
        ]
        if wrong := [item.name for item in both if not self._pardoned("twice", item)]:
            findings.append(Finding("twice", f"{len(wrong)} leased while another lease lasted", tuple(wrong)))
        for state in ("refused", "cancelled"):
            told = [i.name for i in items if i.state == state and (i.taken or in_redis.get(i.name))]
            if told:
                findings.append(Finding(state, f"{len(told)} delivered though {state}", tuple(told)))
        early = [item.name for item in items if (item.taken or item.delivered) and _early(item, skews)]
        if early:
            findings.append(Finding("early", f"{len(early)} before their time", tuple(early)))
        if self._unknown:
            findings.append(Finding("strange", f"{len(self._unknown)} never offered", tuple(self._unknown)))
        counts = {
            "offered": self._numbers,
            "done with before": self._forgotten,
            "in": sum(item.state == "in" for item in items),
            "in doubt": sum(item.state == "asked" for item in items),
            "refused": sum(item.state == "refused" for item in items),
            "cancelled": sum(item.state == "cancelled" for item in items),
            "taken": sum(len(item.taken) for item in items),
            "left": sum(in_redis.values()),
            "deliveries": sum(len(item.delivered) for item in items),
            "delivered again": sum(len(item.delivered) > 1 for item in items),
            "gone with an ack in doubt": sum(item.maybe_acked for item in gone),
            "gone with a reason": len(excused),
            "lost within the allowance": len(lost),
            "twice": len(twice),
            "early": len(early),
        }
        late = [min(item.taken) - item.offered - item.delay for item in items if item.taken]
        return Verdict(counts, findings, max(late, default=0.0))

    def tell(self, history: History, queue: str, lost_replies: Collection[LostReply], queues: Collection[str]) -> None:
        """Writes the possible losses by faults and broken connections into the history."""
        now, epoch = time.monotonic_ns(), time.time()
        for pardon in self.pardons:
            since, until = (now - round(1e9 * (epoch - moment)) for moment in (pardon.since, pardon.until))
            history.excuse(pardon.kind, since, until, pardon.why)
        replies = self._of_mine(lost_replies, queues) if self.rules.lost_with_reply else []
        for reply in replies:
            if self.rules.lost_with_drop or reply.ended_by != "client":
                call = history.invoke("gate", "take", queue, reply.most, at=now - round(1e9 * (epoch - reply.at + 60)))
                call.info(
                    f"reply lost by {reply.ended_by}", sorted(reply.held or ()), most=0 if reply.held else reply.most
                )
        if self.in_hand:
            history.invoke("killed", "take", queue, self.in_hand).info("in hand at its end", most=self.in_hand)

    def _of_mine(self, replies: Collection[LostReply], queues: Collection[str]) -> list[LostReply]:
        mine = {queue.encode() for queue in queues} | {b""}
        return [reply for reply in replies if reply.key in mine]

    def _pardoned(self, kind: str, item: Item) -> bool:
        return any(pardon.kind == kind and pardon.covers(item) for pardon in self.pardons)


def _early(item: Item, skews: Sequence[tuple[float, float]]) -> bool:
    """Whether the item was taken before its due time, however the server's clock was set meanwhile."""
    first = min(item.taken + item.delivered)
    due = item.offered + min(_in_effect(skews, item.offered, item.offered)) + item.delay
    # An offer's delay counts from a whole millisecond.
    return first + max(_in_effect(skews, item.offered, first)) < due - 0.001


def _in_effect(skews: Sequence[tuple[float, float]], since: float, until: float) -> list[float]:
    """The steps of the server's clock between two moments. The exact time of a step is not known."""
    before = [skew for moment, skew in skews if moment < since - _UNSURE][-1:] or [0.0]
    return before + [skew for moment, skew in skews if since - _UNSURE <= moment <= until + _UNSURE]
