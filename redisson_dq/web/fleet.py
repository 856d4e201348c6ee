"""The view of all queues: their counts, lateness and movers, and the doctor's verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Any, Literal

import attrs

from redisson_dq.admin.names import named
from redisson_dq.doctor import Finding, Report, Severity
from redisson_dq.errors import RedissonDQError
from redisson_dq.web.frame import last_figures
from redisson_dq.web.seeing import Seeing
from redisson_dq.web.snapshots import MINUTES, SeenQueue, Snapshots

__all__ = [
    "COLUMNS",
    "DoctorVerdict",
    "FleetRow",
    "FleetView",
    "Judged",
    "Series",
    "fleet",
    "fleet_row",
    "missing",
    "verdicts",
    "worst_of",
]

#: ``problem``, ``warning`` and ``ok`` are the doctor's; ``unknown`` if it has not run yet.
DoctorVerdict = Literal["problem", "warning", "ok", "unknown"]
_WORST: dict[str, int] = {"problem": 3, "warning": 2, "unknown": 1, "ok": 0}
#: The worst finding of a queue, how many there are, and the check of the worst one.
Judged = tuple[DoctorVerdict, int, str]
# The rows of one page.
_ROWS = 100


@attrs.frozen(kw_only=True)
class Series:
    """The last 60 minutes of a queue, the oldest first. None if nobody watched in that minute.

    ``late`` is the largest age of an overdue value, in seconds. ``came``, ``left`` and ``moved`` are values a minute:
    the least that the changes of the counts allow. ``waiting`` and ``ready`` are the last counts of each minute.
    """

    late: tuple[float | None, ...]
    came: tuple[int | None, ...]
    left: tuple[int | None, ...]
    moved: tuple[int | None, ...]
    waiting: tuple[int | None, ...]
    ready: tuple[int | None, ...]


@attrs.frozen(kw_only=True)
class FleetRow:
    """One queue.

    ``partitions`` is None for a queue without. ``late_by`` is how long the first overdue value has been due; 0 without
    any. ``mover`` is the name of the client that moves the queue where several could, else empty. ``movers`` is how
    many clients listen and would move it, or None if unknown. ``verdict`` sums up the doctor's findings, whose number
    is ``findings``, and ``check`` is the one that found the worst. ``error`` says why figures are missing, all of them
    if ``has_figures`` is false. It is empty if none is missing. ``came_last_minute`` and ``left_last_minute`` are
    rates, None if nobody watched a minute ago.
    """

    name: str
    partitions: int | None
    ready: int = 0
    waiting: int = 0
    overdue: int = 0
    late_by: timedelta = timedelta(0)
    in_flight: int = 0
    dead: int = 0
    undecodable: int = 0
    quarantined: int = 0
    recurring: int = 0
    next_due: datetime | None = None
    is_paused: bool = False
    mover: str = ""
    movers: int | None = None
    verdict: DoctorVerdict = "unknown"
    findings: int = 0
    check: str = ""
    series: Series
    came_last_minute: int | None = None
    left_last_minute: int | None = None
    has_figures: bool = True
    error: str = ""


@attrs.frozen(kw_only=True)
class FleetView:
    """All queues that the user may see, sorted and filtered.

    ``rows`` is one page of 100, ``shown`` how many match the filter, ``count`` how many there are. ``sort`` is one of
    ``columns``, with a ``-`` in front for the largest first. ``totals`` has the sums of ready, waiting, overdue,
    in_flight, dead. ``is_whole`` is false until all keys have been scanned. ``missing`` says that a node of the cluster
    is away, so its queues may not be among the rows. ``trouble`` says that Redis is away or refuses; the rows are then
    the latest known ones. ``page`` counts from 1, and ``pages`` is how many there are. ``verdict`` is the worst of all,
    including findings about the server, which are in ``findings``.
    """

    rows: tuple[FleetRow, ...]
    count: int
    shown: int
    sort: str
    filter: str
    page: int
    pages: int
    totals: dict[str, int]
    server_time: datetime | None
    is_whole: bool
    verdict: DoctorVerdict
    findings: tuple[Finding, ...]
    missing: str = ""
    trouble: str = ""
    columns: tuple[str, ...]


_KEYS: dict[str, Callable[[FleetRow], Any]] = {
    "name": lambda row: row.name,
    "ready": lambda row: row.ready,
    "waiting": lambda row: row.waiting,
    "overdue": lambda row: row.overdue,
    "late": lambda row: row.late_by,
    "in_flight": lambda row: row.in_flight,
    "dead": lambda row: row.dead,
    "came": lambda row: row.came_last_minute or 0,
    "left": lambda row: row.left_last_minute or 0,
    "movers": lambda row: -1 if row.movers is None else row.movers,
    "verdict": lambda row: (_WORST[row.verdict], row.findings),
}
COLUMNS = tuple(_KEYS)
_SUMS = ("ready", "waiting", "overdue", "in_flight", "dead")


def fleet(
    snapshots: Snapshots,
    seeing: Seeing,
    report: Report | None,
    *,
    sort: str = "",
    filter: str = "",
    page: int = 1,
) -> FleetView:
    """The view for a user who may see some queues.

    ``filter`` is a pattern such as ``orders*``, or a part of a name; several are separated by spaces. ``is:paused``,
    ``is:late``, ``is:dead``, ``is:problem`` choose by state. An unknown ``sort`` counts as none.
    """
    found = [each for each in snapshots.queues() if seeing.may([each.name])]
    judged = verdicts(report)
    now = snapshots.server_time
    # Only the rows of the current page have charts.
    rows = [fleet_row(each, judged, now, with_series=False) for each in found]
    wanted = [row for row in rows if _matches(row, filter)]
    column = sort.removeprefix("-")
    if column in _KEYS:
        wanted.sort(key=lambda row: row.name)
        wanted.sort(key=_KEYS[column], reverse=sort.startswith("-"))
    else:
        sort = ""
        # The worst come first, so one glance at the page is enough.
        wanted.sort(key=lambda row: (-_WORST[row.verdict], -row.late_by.total_seconds(), row.name))
    pages = max(1, -(-len(wanted) // _ROWS))
    page = min(max(1, page), pages)
    shown = wanted[(page - 1) * _ROWS : page * _ROWS]
    names = {row.name for row in shown}
    series_of = {each.name: _series(each, now) for each in found if each.name in names}
    of_server = judged.get(None, ("ok" if report else "unknown", 0, ""))[0]
    return FleetView(
        rows=tuple(attrs.evolve(row, series=series_of[row.name]) for row in shown),
        count=len(rows),
        shown=len(wanted),
        sort=sort,
        filter=filter,
        page=page,
        pages=pages,
        totals={name: sum(getattr(row, name) for row in rows) for name in _SUMS},
        server_time=now,
        is_whole=snapshots.is_whole,
        verdict=worst_of([*(row.verdict for row in rows), of_server]),
        findings=tuple(each for each in seeing.findings(report) if each.queue is None),
        missing=missing(snapshots, seeing),
        trouble=last_figures(snapshots.trouble, seeing),
        columns=COLUMNS,
    )


def missing(snapshots: Snapshots, seeing: Seeing) -> str:
    """Why queues may be missing, or an empty text."""
    return "" if snapshots.away is None else f"Its queues may be missing: {seeing.trouble(str(snapshots.away))}"


def worst_of(met: Iterable[DoctorVerdict]) -> DoctorVerdict:
    """The worst of some verdicts; ``unknown`` if there is none."""
    return max(met, key=lambda each: _WORST[each], default="unknown")  # pyright: ignore[reportReturnType]


def verdicts(report: Report | None) -> dict[str | None, Judged]:
    """The worst finding of each queue, and how many there are. None stands for servers and clients."""
    judged: dict[str | None, Judged] = {}
    for each in () if report is None else report.findings:
        verdict: DoctorVerdict = "problem" if each.severity is Severity.PROBLEM else "warning"
        before, count, check = judged.get(each.queue, ("ok", 0, ""))
        if _WORST[verdict] > _WORST[before]:
            before, check = verdict, each.check
        judged[each.queue] = before, count + 1, check
    if report is not None and report.failure is None:
        judged.setdefault(None, ("ok", 0, ""))
    return judged


def fleet_row(
    seen: SeenQueue, judged: dict[str | None, Judged], now: datetime | None, *, with_series: bool = True
) -> FleetRow:
    """The row of a known queue."""
    found = seen.found
    assert found is not None
    verdict, count, check = judged.get(seen.name, ("ok" if judged else "unknown", 0, ""))
    series = _series(seen, now) if with_series else _NO_SERIES
    before = _last_minute(now) - 1
    last = next((each for each in reversed(seen.minutes) if each.number <= before), None)
    last = last if last is not None and last.number == before else None
    stats = found.stats
    if stats is None:
        return FleetRow(
            name=seen.name,
            partitions=found.partitions,
            series=series,
            verdict="problem",
            findings=count,
            check=check,
            has_figures=False,
            error=_text(found.error),
        )
    return FleetRow(
        name=seen.name,
        partitions=found.partitions,
        ready=stats.ready,
        waiting=stats.waiting,
        overdue=stats.overdue,
        late_by=stats.late_by if stats.overdue else timedelta(0),
        in_flight=stats.in_flight,
        dead=stats.dead,
        undecodable=stats.undecodable,
        quarantined=stats.quarantined,
        recurring=stats.recurring,
        next_due=stats.next_due,
        is_paused=stats.is_paused,
        mover="" if stats.mover is None else stats.mover.client,
        movers=stats.subscribers,
        verdict=verdict,
        findings=count,
        check=check,
        series=series,
        came_last_minute=None if last is None else last.came,
        left_last_minute=None if last is None else last.left,
        error=found.problem or "",
    )


def _text(error: RedissonDQError | None) -> str:
    return "it has not been checked yet" if error is None else str(error)


_NO_SERIES = Series(late=(), came=(), left=(), moved=(), waiting=(), ready=())


def _last_minute(now: datetime | None) -> int:
    return int((now.timestamp() if now else 0) // 60)


def _series(seen: SeenQueue, now: datetime | None) -> Series:
    last = _last_minute(now)
    known = {each.number: each for each in seen.minutes}
    minutes = [known.get(number) for number in range(last - MINUTES + 1, last + 1)]

    def of(name: str) -> Any:
        return tuple(None if each is None else getattr(each, name) for each in minutes)

    return Series(
        late=of("late_s"),
        came=of("came"),
        left=of("left"),
        moved=of("moved"),
        waiting=of("waiting"),
        ready=of("ready"),
    )


def _matches(row: FleetRow, text: str) -> bool:
    return all(_matches_word(row, word) for word in text.split())


_STATES: dict[str, Callable[[FleetRow], bool]] = {
    "is:paused": lambda row: row.is_paused,
    "is:late": lambda row: row.overdue > 0,
    "is:dead": lambda row: row.dead > 0,
    "is:problem": lambda row: row.verdict in ("problem", "warning"),
}


def _matches_word(row: FleetRow, word: str) -> bool:
    if word.lower() in _STATES:
        return _STATES[word.lower()](row)
    if any(each in word for each in "*?["):
        return bool(named(word)(row.name))
    return word.lower() in row.name.lower()
