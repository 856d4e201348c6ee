"""The figures of peers as tables for people. Medians over the repetitions; what went wrong is added up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import attrs

from tests.benchmarks.measures import Spread, percentile
from tests.benchmarks.peers.busy import SLOTS
from tests.benchmarks.peers.figures import Drain, Lateness, PeerSettings
from tests.benchmarks.peers.killed import Killed
from tests.benchmarks.peers.peer import PEERS
from tests.benchmarks.peers.ready import SLOTS as SLOTS_OF_ONE
from tests.benchmarks.peers.results import PeerFigures
from tests.benchmarks.tables import Table

__all__ = ["peers_markdown"]

_PERCENTILES = {"p50": 50.0, "p90": 90.0, "p99": 99.0, "max": 100.0}
_BULK = {peer.name: peer.bulk for peer in PEERS}
_REDELIVERS = {peer.name: peer.redelivers for peer in PEERS}
_NONE = "-"

_Counted = TypeVar("_Counted")


def peers_markdown(figures: Sequence[PeerFigures], settings: PeerSettings) -> str:
    """Tables, each under its title, and the versions."""
    peers = {one.peer: [other for other in figures if other.peer == one.peer] for one in figures}
    tables = [_lateness(settings, {name: [one.lateness for one in found] for name, found in peers.items()})]
    if settings.load:
        tables.append(_lateness_under_load(settings, peers))
    tables += [_enqueueing(settings, peers), _commands(settings, peers)]
    if settings.drained or settings.orphaned:
        tables.append(_afterwards(settings, peers))
    if settings.stored:
        tables.append(_stored(settings, peers))
    workers = {name: found for name, found in peers.items() if _REDELIVERS.get(name)}
    if workers:
        tables.append(_working(settings, workers))
        if settings.held:
            tables.append(_killed(settings, workers))
    notes = [f"- {name}: {_versions(found[0])}" for name, found in peers.items()]
    return "\n".join([*(table.markdown() for table in tables), *notes, *_warnings(figures)]) + "\n"


def _warnings(figures: Sequence[PeerFigures]) -> list[str]:
    return [
        f"- Beware: {one.peer} was still enqueueing {timed.behind_ms} ms after the first job was due."
        for one in figures
        for timed in (one.lateness, one.lateness_under_load, one.drain)
        if timed is not None and timed.behind_ms
    ]


def _lateness(settings: PeerSettings, peers: dict[str, list[Lateness]]) -> Table:
    return Table(
        title=f"Lateness in ms: {settings.jobs:,} jobs within {settings.seconds:g} s",
        header=("peer", *_PERCENTILES, "handled", "early", "twice"),
        rows=[
            (
                name,
                *(
                    _spread((percentile(one.lateness_us, share) / 1000 for one in passes if one.lateness_us), digits=2)
                    for share in _PERCENTILES.values()
                ),
                _sum(passes, lambda one: one.handled),
                _sum(passes, lambda one: one.early),
                _sum(passes, lambda one: one.twice),
            )
            for name, passes in peers.items()
        ],
    )


def _lateness_under_load(settings: PeerSettings, peers: dict[str, list[PeerFigures]]) -> Table:
    loaded = {
        name: [one.lateness_under_load for one in found if one.lateness_under_load is not None]
        for name, found in peers.items()
    }
    table = _lateness(settings, loaded)
    reached = [_spread(one.load for one in passes) for passes in loaded.values()]
    return attrs.evolve(
        table,
        title=f"{table.title}, beside {settings.load:,} ZADD a second",
        header=(*table.header, "load reached"),
        rows=[(*row, load) for row, load in zip(table.rows, reached, strict=True)],
    )


def _enqueueing(settings: PeerSettings, peers: dict[str, list[PeerFigures]]) -> Table:
    return Table(
        title=f"Jobs enqueued a second: {settings.enqueued:,} by one producer",
        header=("peer", "one by one", "in bulk", "by", "PING"),
        rows=[
            (
                name,
                _spread(one.enqueued for one in found),
                _spread(one.enqueued_in_bulk for one in found),
                _BULK.get(name) or _NONE,
                _spread(one.pings for one in found),
            )
            for name, found in peers.items()
        ],
    )


def _commands(settings: PeerSettings, peers: dict[str, list[PeerFigures]]) -> Table:
    return Table(
        title=f"Commands: of a job, and a second of an idle worker over {settings.idle_seconds:g} s",
        header=("peer", "to enqueue", "to handle", "idle", "most of them"),
        rows=[
            (
                name,
                _spread((one.commands_to_enqueue for one in found), digits=2),
                _spread((one.commands_to_handle for one in found), digits=2),
                _spread((sum(one.idle.values()) for one in found), digits=1),
                ", ".join(list(found[0].idle)[:3]) or _NONE,
            )
            for name, found in peers.items()
        ],
    )


def _afterwards(settings: PeerSettings, peers: dict[str, list[PeerFigures]]) -> Table:
    def drains(found: Sequence[PeerFigures]) -> list[Drain]:
        return [one.drain for one in found if one.drain is not None]

    orphaned = ("of the killed worker",) if settings.orphaned else ()
    return Table(
        title=f"{settings.drained:,} jobs due at once, in ms after that"
        + (
            f"; and {settings.orphaned} jobs due after a worker was killed, {settings.orphaned_seconds:g} s later"
            if settings.orphaned
            else ""
        ),
        header=("peer", "first", "last", "handled", "early", "twice", *orphaned),
        rows=[
            (
                name,
                _spread((one.first_ms for one in drains(found)), digits=1),
                _spread(one.last_ms for one in drains(found)),
                _sum(drains(found), lambda one: one.handled),
                _sum(drains(found), lambda one: one.early),
                _sum(drains(found), lambda one: one.twice),
                *((_spread(one.orphaned for one in found),) if settings.orphaned else ()),
            )
            for name, found in peers.items()
        ],
    )


def _stored(settings: PeerSettings, peers: dict[str, list[PeerFigures]]) -> Table:
    """The smallest first."""
    each = [
        (found[0].stored[layout], " ".join((name, layout)).strip())
        for name, found in peers.items()
        for layout in found[0].stored
    ]
    return Table(
        title=f"Server memory of each waiting job, {settings.stored:,} jobs: MEMORY USAGE of all keys",
        header=("peer", "bytes a job"),
        rows=[(name, f"{bytes:,.0f}") for bytes, name in sorted(each)],
    )


def _working(settings: PeerSettings, peers: dict[str, list[PeerFigures]]) -> Table:
    rows = []
    for name, found in peers.items():
        rates = [one.ready for one in found if one.ready is not None]
        stopped = [one.stopped for one in found if one.stopped is not None]
        footprints = [one.footprint for one in found if one.footprint is not None]
        told = [one.counted for one in stopped if one.counted is not None]
        rows.append(
            (
                name,
                _spread(one.one for one in rates),
                _spread(one.two for one in rates),
                *(_spread(one.slots.get(slots) for one in rates) for slots in SLOTS_OF_ONE),
                _spread((one.commands_busy for one in found), digits=2),
                _sum(stopped, lambda one: one.lost),
                _sum(stopped, lambda one: one.cut),
                f"{sum(told)}" if told else _NONE,
                _spread(one.import_seconds * 1000 for one in footprints),
                _spread((one.bytes / 2**20 for one in footprints), digits=1),
            )
        )
    return Table(
        title=f"Workers: {settings.ready:,} ready jobs that do nothing; commands a job with {SLOTS} busy slots; "
        f"SIGTERM before {settings.stopped} jobs; imports and memory",
        header=(
            "peer",
            "jobs a second, one process",
            "two processes",
            *(f"{slots} slots" for slots in SLOTS_OF_ONE),
            "commands",
            "SIGTERM: lost",
            "cut short",
            "counted",
            "import, ms",
            "MB, idle",
        ),
        rows=rows,
    )


def _killed(settings: PeerSettings, peers: dict[str, list[PeerFigures]]) -> Table:
    def cell(found: Sequence[PeerFigures], supervised: bool) -> tuple[str, str]:
        # Every repetition has the same.
        for one in found[0].killed:
            if one.supervised is supervised:
                return _handled(one)
        return _NONE, _NONE

    return Table(
        title=f"kill -9 with jobs in hand: handled again within {settings.held_seconds:g} s",
        header=("peer", "next worker", "the last after, s", "under its supervisor", "the last after, s", "by its docs"),
        rows=[(name, *cell(found, False), *cell(found, True), _REDELIVERS[name]) for name, found in peers.items()],
    )


def _handled(one: Killed) -> tuple[str, str]:
    return f"{one.handled} of {one.jobs}", _NONE if one.seconds is None else f"{one.seconds:.1f}"


def _spread(figures: Iterable[float | None], digits: int = 0) -> str:
    measured = [one for one in figures if one is not None]
    return Spread.of(measured).text(digits) if measured else _NONE


def _sum(values: Sequence[_Counted], count: Callable[[_Counted], int]) -> str:
    return f"{sum(map(count, values)):,}" if values else _NONE


def _versions(figures: PeerFigures) -> str:
    return ", ".join(f"{package} {version}" for package, version in figures.versions.items())
