"""Facts as values: a server, the state of a queue, the names that a scan has found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import attrs

from redisson_dq._operations.shell import command_line
from redisson_dq.admin.entries import QueueKeys, Sampled
from redisson_dq.doctor.findings import Finding, Severity
from redisson_dq.inspection import QueueInspection

__all__ = ["Looked", "Scanned"]


@attrs.frozen(kw_only=True)
class Looked:
    """One queue, or one partition, at one moment. ``name`` is its name before the name mapper, ``whole`` the name of
    the whole queue.
    """

    raw: str
    name: str
    whole: str
    keys: QueueKeys
    figures: QueueInspection
    sampled: Sampled
    subscribers: int | None

    @property
    def now_ms(self) -> int:
        """The server's time of this state, in epoch ms."""
        return self.sampled.now_us // 1000

    def command(self, words: str, *options: str) -> str:
        """A ``redisson-dq`` command for this queue, quoted for a shell."""
        return command_line(words, [self.whole], options)

    def finding(
        self,
        *,
        check: str,
        severity: Severity,
        text: str,
        evidence: Mapping[str, Any],
        shown_by: str,
        commands: tuple[str, ...],
        alternatives: int = 0,
        others: tuple[str, ...] = (),
    ) -> Finding:
        """A finding about this queue. ``others`` has other queues that it names."""
        return Finding(
            check=check,
            severity=severity,
            text=text,
            queue=self.whole,
            partition=None if self.name == self.whole else self.name,
            evidence=evidence,
            shown_by=shown_by,
            commands=commands,
            alternatives=alternatives,
            others=others,
        )

    def late_s(self) -> float:
        """How many seconds the first overdue entry has been due."""
        return self.figures.late_by.total_seconds() if self.figures.overdue else 0.0

    def size_of(self, role: str) -> int:
        """The size of one of its keys."""
        return next((key.size for key in self.figures.keys if key.role == role), 0)


@attrs.frozen(kw_only=True)
class Scanned:
    """The raw names of all queues found by keys and channels, and the names of the keys."""

    names: frozenset[str]
    left_over: tuple[str, ...]
    is_whole: bool
