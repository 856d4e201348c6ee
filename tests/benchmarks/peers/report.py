"""The figures of peers as tables for people. Medians over the repetitions; what went wrong is added up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import attrs

from tests.benchmarks.measures import Spread, percentile
from tests.benchmarks.peers.figures import Drain, Lateness, PeerFigures, PeerSettings
from tests.benchmarks.peers.peer import PEERS

__all__ = ["peers_markdown"]

_PERCENTILES = {"p50": 50.0, "p90": 90.0, "p99": 99.0, "max": 100.0}
_BULK = {peer.name: peer.bulk for peer in PEERS}
_NONE = "-"

_Row = tuple[str, ...]
_Counted = TypeVar("_Counted")


@attrs.frozen(kw_only=True)
class _Table:
    title: str
    header: _Row
    rows: Sequence[_Row]

    def markdown(self) -> str:
        lines = [self.header, tuple("---" for _ in self.header), *self.rows]
        return f"**{self.title}**\n\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def peers_markdown(figures: Sequence[PeerFigures], settings: PeerSettings) -> str:
    """Tables, each under its title, and the versions."""
    peers = {one.peer: [other for other in figures if other.peer == one.peer] for one in figures}
    tables = [_lateness(settings, {name: [one.lateness for one in found] for name, found in peers.items()})]
    if settings.load:
        tables.append(_lateness_under_load(settings, peers))
    tables += [_enqueueing(settings, peers), _commands(settings, peers)]
    if settings.drained or settings.orphaned:
        tables.append(_afterwards(settings, peers))
    notes = [f"- {name}: {_versions(found[0])}" for name, found in peers.items()]
    return "\n".join([*(table.markdown() for table in tables), *notes, *_warnings(figures)]) + "\n"


def _warnings(figures: Sequence[PeerFigures]) -> list[str]:
    return [
        f"- Beware: {one.peer} was still enqueueing {timed.behind_ms} ms after the first job was due."
        for one in figures
        for timed in (one.lateness, one.lateness_under_load, one.drain)
        if timed is not None and timed.behind_ms
    ]


def _lateness(settings: PeerSettings, peers: dict[str, list[Lateness]]) -> _Table:
    return _Table(
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


def _lateness_under_load(settings: PeerSettings, peers: dict[str, list[PeerFigures]]) -> _Table:
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


def _enqueueing(settings: PeerSettings, peers: dict[str, list[PeerFigures]]) -> _Table:
    return _Table(
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


def _commands(settings: PeerSettings, peers: dict[str, list[PeerFigures]]) -> _Table:
    return _Table(
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


def _afterwards(settings: PeerSettings, peers: dict[str, list[PeerFigures]]) -> _Table:
    def drains(found: Sequence[PeerFigures]) -> list[Drain]:
        return [one.drain for one in found if one.drain is not None]

    return _Table(
        title=f"{settings.drained:,} jobs due at once, in ms after that; "
        f"and {settings.orphaned} jobs due after a worker was killed, {settings.orphaned_seconds:g} s later",
        header=("peer", "first", "last", "handled", "early", "twice", "of the killed worker"),
        rows=[
            (
                name,
                _spread((one.first_ms for one in drains(found)), digits=1),
                _spread(one.last_ms for one in drains(found)),
                _sum(drains(found), lambda one: one.handled),
                _sum(drains(found), lambda one: one.early),
                _sum(drains(found), lambda one: one.twice),
                _spread(one.orphaned for one in found),
            )
            for name, found in peers.items()
        ],
    )


def _spread(figures: Iterable[float | None], digits: int = 0) -> str:
    measured = [one for one in figures if one is not None]
    return Spread.of(measured).text(digits) if measured else _NONE


def _sum(values: Sequence[_Counted], count: Callable[[_Counted], int]) -> str:
    return f"{sum(map(count, values)):,}" if values else _NONE


def _versions(figures: PeerFigures) -> str:
    return ", ".join(f"{package} {version}" for package, version in figures.versions.items())
