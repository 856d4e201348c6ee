"""The goals for the worker: ``take()`` of the same run, its promises, and every other task queue."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tests.benchmarks.measures import Spread, percentile
from tests.benchmarks.peers.figures import Lateness
from tests.benchmarks.peers.peer import PEERS, TAKES, WORKERS
from tests.benchmarks.peers.results import PeerFigures
from tests.benchmarks.tables import Goal, at_most

__all__ = ["goals"]

# Of on_redisson_dq_worker.py.
_VISIBLE = 5.0
_TASK_QUEUES = {peer.name for peer in PEERS if peer.own_environment}

_Figure = Callable[[PeerFigures], "float | None"]


def goals(found: Sequence[PeerFigures]) -> list[Goal]:
    """Every goal of both flavours, whatever was measured."""
    by_name = {name: [one for one in found if one.peer == name] for name in {one.peer for one in found}}
    made = []
    for name in WORKERS:
        mine = by_name.get(name, [])
        made += _beside_take(name, mine, by_name.get(TAKES[name], []))
        made.append(
            at_most(
                f"{name}: at most 3 commands a job with 8 busy slots", _spread(mine, lambda one: one.commands_busy), 3
            )
        )
        made += _kept(name, mine)
        rivals = [one for one in by_name.items() if one[0] in _TASK_QUEUES]
        for text, figure, most in _FIGURES:
            made.append(_ahead(f"{name}: {text} than every task queue", mine, rivals, figure, most=most))
    return made


def _late(one: PeerFigures, share: float) -> float | None:
    return _percentile(one.lateness, share)


def _percentile(one: Lateness, share: float) -> float | None:
    return percentile(one.lateness_us, share) / 1000 if one.lateness_us else None


#: What is compared, and whether the most is best.
_FIGURES: Sequence[tuple[str, _Figure, bool]] = (
    ("more jobs a second in one process", lambda one: one.ready.one if one.ready else None, True),
    ("more jobs a second in two processes", lambda one: one.ready.two if one.ready else None, True),
    ("more jobs a second with 8 slots", lambda one: one.ready.slots.get(8) if one.ready else None, True),
    ("more jobs a second with 100 slots", lambda one: one.ready.slots.get(100) if one.ready else None, True),
    ("less lateness, p50,", lambda one: _late(one, 50.0), False),
    ("less lateness, p99,", lambda one: _late(one, 99.0), False),
    ("an earlier last one of those due at once", lambda one: one.drain.last_ms if one.drain else None, False),
    ("fewer commands a job with 8 busy slots", lambda one: one.commands_busy, False),
    ("less time to import", lambda one: one.footprint.import_seconds * 1000 if one.footprint else None, False),
    ("fewer bytes of a waiting job", lambda one: min(one.stored.values(), default=None), False),
    ("less memory while idle", lambda one: one.footprint.bytes / 2**20 if one.footprint else None, False),
)


def _spread(found: Sequence[PeerFigures], figure: _Figure) -> Spread | None:
    measured = [value for one in found if (value := figure(one)) is not None]
    return Spread.of(measured) if measured else None


def _ahead(
    text: str,
    mine: Sequence[PeerFigures],
    rivals: Sequence[tuple[str, list[PeerFigures]]],
    figure: _Figure,
    *,
    most: bool,
) -> Goal:
    ours = _spread(mine, figure)
    theirs = [(spread.median, name) for name, found in rivals if (spread := _spread(found, figure)) is not None]
    if ours is None or not theirs:
        return Goal(text=text, found="", met=None)
    best, name = max(theirs) if most else min(theirs)
    met = ours.median > best if most else ours.median < best
    return Goal(text=text, found=f"{ours.median:,.2f}, {name} {best:,.2f}", met=met)


def _beside_take(name: str, mine: Sequence[PeerFigures], takes: Sequence[PeerFigures]) -> list[Goal]:
    made = []
    for share in (50.0, 99.0):
        text = f"{name}: lateness p{share:g} at most 1.5 times that of take()"
        ours = [late for one in mine if (late := _late(one, share)) is not None]
        theirs = [late for one in takes if (late := _late(one, share)) is not None]
        if len(ours) != len(theirs) or not ours:
            made.append(Goal(text=text, found="", met=None))
        else:
            ratios = Spread.of([late / beside for late, beside in zip(ours, theirs, strict=True)])
            made.append(at_most(text, ratios, 1.5))
    return made


def _kept(name: str, mine: Sequence[PeerFigures]) -> list[Goal]:
    made = []
    for supervised, limit in ((False, _VISIBLE + 1), (True, 1.0)):
        who = "under the supervisor" if supervised else f"with leases of {_VISIBLE:g} s"
        deaths = [death for one in mine[:1] for death in one.killed if death.supervised is supervised]
        text = f"{name}: killed with jobs in hand, {who}, all handled again within {limit:g} s"
        told = ", ".join(f"{death.handled} of {death.jobs}, {death.seconds or 0:.2f} s" for death in deaths)
        met = all(death.handled == death.jobs and (death.seconds or 0) <= limit for death in deaths)
        made.append(Goal(text=text, found=told, met=met if deaths else None))
    stops = [one.stopped for one in mine if one.stopped is not None]
    lost, cut, counted = (
        sum(one.lost for one in stops),
        sum(one.cut for one in stops),
        sum(one.counted or 0 for one in stops),
    )
    told = f"{lost} lost, {cut} cut short, {counted} counted" if stops else ""
    text = f"{name}: SIGTERM under load loses nothing, cuts nothing short and counts nothing"
    made.append(Goal(text=text, found=told, met=not (lost or cut or counted) if stops else None))
    return made
