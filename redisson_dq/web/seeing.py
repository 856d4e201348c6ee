"""Decides which names of queues are shown to a user who may see only some of them.

A page, JSON or a stream contains the name of a queue either because the user asked for that queue, or from here:
findings from :meth:`Seeing.findings`, reasons and notes of a diagnosis, errors about several queues, the queue a dead
letter is from.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

import attrs

from redisson_dq.doctor import Finding, Report, Result

__all__ = ["Seeing", "named_in"]

_ELSEWHERE = "something was found whose details name queues that are not yours: {}"
_REASON = "it could not run for all queues"
_TROUBLE = "the details are for users who may see all queues"


@attrs.frozen
class Seeing:
    """The queues that a user may see. ``allowed`` is None for a user who may see all queues, including new ones."""

    allowed: Collection[str] | None

    @property
    def all(self) -> bool:
        """Whether the user may see all queues."""
        return self.allowed is None

    def may(self, names: Iterable[str]) -> bool:
        """Whether the user may see all of these queues."""
        return self.allowed is None or all(name in self.allowed for name in names)

    def findings(self, report: Report | None, queue: str | None = None) -> list[Finding]:
        """The findings that the user may see, or those about one queue.

        A finding that names another user's queue loses its details.
        """
        if report is None:
            return []
        chosen = (each for each in report.findings if queue is None or each.queue == queue)
        return [self._finding(each) for each in chosen if each.queue is None or self.may([each.queue])]

    def _finding(self, found: Finding) -> Finding:
        if self.all or (found.others is not None and self.may(found.others)):
            return found
        return attrs.evolve(
            found,
            text=_ELSEWHERE.format(found.check),
            evidence={},
            commands=(),
            alternatives=0,
            partition=None,
            others=(),
            shown_by="redisson-dq doctor",
        )

    def reason(self, result: Result) -> str:
        """Why a check could not run. The reason may be about any queue."""
        return (result.reason if self.all else result.reason and _REASON) or ""

    def notes(self, report: Report) -> tuple[str, ...]:
        """The notes of a diagnosis."""
        return report.notes if self.all else ()

    def trouble(self, text: str) -> str:
        """The text of an error that may be about any queue."""
        return text if self.all or not text else _TROUBLE


def named_in(report: Report | None) -> set[str]:
    """All queues that the findings of a diagnosis are about or name."""
    found = () if report is None else report.findings
    return {name for each in found for name in (each.queue, *(each.others or ())) if name is not None}
