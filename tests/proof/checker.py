"""Decides whether the model allows a history: ``python -m tests.proof check FILE``.

For each item there must be an order of its steps that the model allows. If there is none, the finding says what is
wrong with the item, if that can be seen. In addition, items of ordered queues leave in the order of their due times,
and no item is in two places.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import attrs

from tests.proof.bounds import broken_bounds
from tests.proof.history import read
from tests.proof.linear import order_of
from tests.proof.model import Step
from tests.proof.operations import NEVER, Excuse, Happened, Operation, happened
from tests.proof.order import late, out_of_order

__all__ = ["Finding", "Report", "check", "judged"]

# Bytes of a history that are read at once: more need some GB of memory.
_AT_ONCE = 200_000_000
_GIVES = ("take", "receive")
_ENDS = ("ack", "nack", "reject", "extend")


@attrs.frozen
class Finding:
    """An item whose steps have no allowed order."""

    kind: str
    queue: str
    item: str
    text: str
    steps: tuple[str, ...] = ()

    def __str__(self) -> str:
        return "\n    ".join((f"{self.kind}: {self.item} of {self.queue}: {self.text}", *self.steps))


@attrs.define
class Report:
    """The checker's result."""

    operations: int
    items: int
    counts: dict[str, int]
    findings: list[Finding] = attrs.field(factory=list)
    #: Items lost or delivered twice, within the limits of a fault or a lost reply.
    excused: Counter[str] = attrs.field(factory=Counter)

    def __str__(self) -> str:
        told = ", ".join(f"{count:,} {name}" for name, count in sorted(self.counts.items()))
        lines = [f"{self.operations:,} operations on {self.items:,} items: {told}"]
        lines += [f"excused: {count:,} {kind}" for kind, count in self.excused.items()]
        kinds = Counter(finding.kind for finding in self.findings)
        lines += [f"{count:,} {kind}" for kind, count in kinds.most_common()] or ["nothing found"]
        return "\n".join([*lines, *map(str, self.findings[:20])])


def check(path: Path | str, *, ordered: Sequence[str] = (), within: float | None = None) -> Report:
    """Judges a history in a file.

    ``ordered``: queues with one consumer, from which nothing was given back. ``within``: seconds in which each item has
    to come that is due, for a history in which somebody always waited. Then no renewed lease may be lost either.
    """
    # The order is one of all items together.
    parts = 1 if ordered else 1 + Path(path).stat().st_size // _AT_ONCE
    found = (happened(lambda: read(path), (part, parts)) for part in range(parts))
    return judged(found, ordered=ordered, within=within)


def judged(parts: Iterable[Happened], *, ordered: Sequence[str] = (), within: float | None = None) -> Report:
    """Judges a history, one part of its items after the other."""
    report = Report(0, 0, {})
    lost: dict[str, list[Finding]] = {}
    for found in parts:
        report.operations, report.counts = found.operations, dict(found.counts)
        for queue, items in found.queues.items():
            report.items += len(items)
            lost.setdefault(queue, [])
            for item, operations in items.items():
                finding = _finding(found, queue, item, operations, report, within)
                if finding is not None:
                    (lost[queue] if finding.kind == "lost" else report.findings).append(finding)
            report.findings += [Finding("torn", queue, item, "it is in two places") for item in found.torn[queue]]
            if queue in ordered:
                report.findings += [Finding("order", queue, item, text) for item, text in out_of_order(items)]
        # They tell of all items, whichever part this is of.
        if found.part[0] == 0:
            report.findings += [Finding(*each) for each in broken_bounds(found)]
    for queue, missing in lost.items():
        if len(missing) > found.in_hand[queue]:
            report.findings += missing
        elif missing:
            report.excused["lost"] += len(missing)
    return report


def _finding(
    found: Happened, queue: str, item: str, operations: Sequence[Operation], report: Report, within: float | None
) -> Finding | None:
    """The finding about an item, if there is one."""
    is_right, beginning = order_of(operations, by_clock=not found.is_set)
    if is_right:
        slow = None if within is None else late(operations, within, found.renewed)
        return slow and Finding(slow[0], queue, item, slow[1], _steps_of(operations, operations))
    kind, text = _named(operations, by_clock=not found.is_set)
    why = [each for each in found.excuses if _covers(each, operations)]
    if not _is_never(kind, operations, found) and _is_excused(operations, why, by_clock=not found.is_set):
        report.excused["by a fault"] += 1
        return None
    return Finding(kind, queue, item, text, _steps_of(operations, beginning))


def _named(operations: Sequence[Operation], *, by_clock: bool) -> tuple[str, str]:
    """The kind of the finding for an item without an allowed order."""

    def explained(*without: Operation) -> bool:
        return order_of([op for op in operations if op not in without], by_clock=by_clock)[0]

    looks = [op for op in operations if op.steps[0].f == "look"]
    offers = [op for op in operations if op.steps[0].f == "offer"]
    if not offers:
        return "strange", "it was never offered, or its offer was refused"
    given = [op for op in operations if op.steps[0].f in _GIVES and op.ended != NEVER]
    cancelled = [op for op in operations if op.steps[0][:2] == ("cancel", "cancelled") and op.ended != NEVER]
    if looks and explained(*looks):
        if looks[0].steps[0].outcome == "gone":
            return "lost", "its offer was confirmed, and it is nowhere"
        return "twice", f"it is done, and it is still {looks[0].steps[0].outcome}"
    due = offers[0].steps[0].until or offers[0].low + offers[0].steps[0].delay
    if given and given[0].high < due:
        return "early", "it came before its time on the server's clock"
    if cancelled and explained(*cancelled):
        return "outcome", "cancel() answered CANCELLED, and that is not true"
    for op in operations:
        step = op.steps[0]
        if step.f in _ENDS and step.outcome != "lost" and op.ended != NEVER and explained(op):
            return "stale", f"{step.f} of a lease that was over answered {step.outcome.upper()}"
    for op in operations:
        if op.steps[0].f in ("cancel", "reschedule", "ack", "nack") and explained(op):
            return "outcome", f"{op.steps[0].f} answered {op.steps[0].outcome.upper()}, and that is not true"
    for op in given:
        if explained(op):
            if op.steps[0].f == "receive":
                return "overlap", "it was leased while another lease of it lasted, or after it was done"
            return "twice", "it was taken after it was done, or while a lease of it lasted"
    taken = sum(op.steps[0].f == "take" for op in given)
    return (
        ("twice", f"it was taken {taken} times") if taken > 1 else ("impossible", "no order of its steps explains it")
    )


def _is_never(kind: str, operations: Sequence[Operation], found: Happened) -> bool:
    """Whether no fault explains it: a value out of nowhere, or one that came before its only time."""
    timed = [op.steps[0].f for op in operations if op.steps[0].f in ("offer", "reschedule")]
    return kind == "strange" or (kind == "early" and timed == ["offer"] and not found.is_set)


def _is_excused(operations: Sequence[Operation], why: Sequence[Excuse], *, by_clock: bool) -> bool:
    """Whether a fault that took data with it explains the item: it vanished then, or is as it had been before."""
    if any(each.kind in ("twice", "undone") for each in why):
        return True
    step = (Step("vanish", "gone"),)
    gone = [Operation(each.since, NEVER, 0, NEVER, step, each.why, 0) for each in why if each.kind == "lost"]
    return bool(gone) and order_of([*operations, *gone], by_clock=by_clock)[0]


def _covers(excuse: Excuse, operations: Sequence[Operation]) -> bool:
    since, until = excuse.since, excuse.until
    if excuse.kind == "undone":
        return any(op.began <= until and since <= op.ended for op in operations if op.steps[0].f != "look")
    return any(
        since <= moment <= until
        for op in operations
        if op.steps[0].f in ("offer", *_GIVES)
        for moment in (op.began, min(op.ended, until))
    )


def _steps_of(operations: Sequence[Operation], beginning: Sequence[Operation]) -> tuple[str, ...]:
    return tuple(_shown(op, beginning) for op in sorted(operations))


def _shown(op: Operation, beginning: Sequence[Operation]) -> str:
    step = op.steps[0]
    mark = "  " if op in beginning else "! "
    end = "no answer" if op.ended == NEVER else f"{(op.ended - op.began) / 1e6:.3f} ms"
    until = f" until {step.until / 1e6:.3f}" if step.until else ""
    lease = f" {step.lease}" if step.lease else ""
    return f"{mark}{op.low / 1e6:.6f} {op.process}: {step.f}{lease} {step.outcome}{until} ({end})"
