"""The view of the doctor's findings, and the doctor that runs in the background, at most once a minute."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from datetime import datetime, timezone

import attrs

from redisson_dq import Client
from redisson_dq.admin import Admin
from redisson_dq.doctor import CHECKS, Finding, Report, Result, diagnose
from redisson_dq.errors import RedissonDQError
from redisson_dq.scheduling.times import machine_us
from redisson_dq.web.masks import Masks
from redisson_dq.web.seeing import Seeing

__all__ = ["CheckRow", "DoctorView", "FleetDoctor", "doctor"]

logger = logging.getLogger("redisson_dq")

# The most findings on a page, so that it stays small.
_MOST_FINDINGS = 100


@attrs.frozen(kw_only=True)
class CheckRow:
    """One check: its id, ``ok``, ``problem``, ``warning`` or ``unknown``, its summary, why it could not run."""

    id: str
    status: str
    summary: str
    reason: str


@attrs.frozen(kw_only=True)
class DoctorView:
    """The last diagnosis of all queues. ``at`` is when it was made, None before the first.

    ``findings`` has the findings about servers, and about queues that the user may see
    (:class:`redisson_dq.doctor.Finding`): each has the ``severity``, ``text``, ``evidence``, the command it is
    ``shown_by``, ``commands`` that help, and its ``page``. ``problems`` and ``warnings`` count all of them, and
    ``left_out`` those after the first 100. ``is_running``: another diagnosis is under way.
    """

    at: datetime | None
    is_running: bool
    checks: tuple[CheckRow, ...]
    findings: tuple[Finding, ...]
    notes: tuple[str, ...]
    problems: int
    warnings: int
    left_out: int = 0


class FleetDoctor:
    """Diagnoses all queues of one client, at most once a minute, while somebody watches."""

    #: The seconds between two diagnoses: automatic ones, and those requested by a user.
    fresh, again = 60.0, 5.0

    def __init__(self, client: Client, masks: Masks) -> None:
        self._client, self._masks = client, masks
        self._mutex = threading.Lock()
        self._at = float("-inf")
        self.report: Report | None = None
        self.made: datetime | None = None
        self.is_running = False

    def is_due(self, *, is_asked_for: bool = False) -> bool:
        """Whether the last diagnosis is a minute old, or some seconds if a user asks, and none is running."""
        age = Admin(self._client).clock.monotonic() - self._at
        return not self.is_running and age > (self.again if is_asked_for else self.fresh)

    def look(self) -> None:
        """Makes a diagnosis, unless another thread is making one. Never raises."""
        if not self._mutex.acquire(blocking=False):
            return
        try:
            self.is_running = True
            self.report = self._masks.report(diagnose(self._client))
            self.made = datetime.fromtimestamp(machine_us() / 1e6, timezone.utc)
        except RedissonDQError as error:
            logger.warning("the dashboard's diagnosis failed: %s", error)
        finally:
            self._at = Admin(self._client).clock.monotonic()
            self.is_running = False
            self._mutex.release()

    def forget(self) -> None:
        """Lets the next call make a diagnosis at once."""
        self._at = float("-inf")


def doctor(state: FleetDoctor, seeing: Seeing) -> DoctorView:
    """The view for a user who may see some queues."""
    report = state.report
    if report is None:
        return DoctorView(
            at=None, is_running=state.is_running, checks=(), findings=(), notes=(), problems=0, warnings=0
        )
    seen = seeing.findings(report)
    # The queues with the most late items come first.
    seen.sort(key=lambda each: (each.severity != "problem", -each.evidence.get("overdue", 0)))
    problems = sum(each.severity == "problem" for each in seen)
    return DoctorView(
        at=state.made,
        is_running=state.is_running,
        checks=tuple(_checks(report.results, seen, seeing)),
        findings=tuple(seen[:_MOST_FINDINGS]),
        notes=seeing.notes(report),
        problems=problems,
        warnings=len(seen) - problems,
        left_out=max(0, len(seen) - _MOST_FINDINGS),
    )


def _checks(results: Sequence[Result], seen: Sequence[Finding], seeing: Seeing) -> list[CheckRow]:
    """The checks, with the findings that the user may see."""
    summaries = {check.id: check.summary for check in CHECKS}
    worst: dict[str, str] = {}
    for each in seen:
        worst[each.check] = "problem" if "problem" in (each.severity.value, worst.get(each.check)) else "warning"
    rows = []
    for result in results:
        status = result.status.value
        if not seeing.all and status in ("problem", "warning"):
            status = worst.get(result.check, "ok")
        rows.append(
            CheckRow(id=result.check, status=status, summary=summaries[result.check], reason=seeing.reason(result))
        )
    return rows
