"""What a run found: tables for people, JSON with every figure, and the goals it is held against."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from typing import Any

import attrs

from tests.benchmarks import codecs, lateness, offers
from tests.benchmarks.machine import Machine
from tests.benchmarks.measures import ASYNCIO, REDISSON, SYNC, Settings, Spread

__all__ = ["Goal", "Results", "Table", "goals", "markdown", "show", "tables", "to_json"]


_LEGEND = "Medians; in brackets the least and the greatest repetition."


@attrs.frozen(kw_only=True)
class Results:
    """One run. A part that was not asked for is empty."""

    settings: Settings
    machine: Machine
    passes: list[lateness.Pass]
    rates: offers.Rates
    codecs: codecs.CodecRates


@attrs.frozen(kw_only=True)
class Goal:
    """One goal and what was found. ``met`` is None when the run did not measure it."""

    text: str
    found: str
    met: bool | None

    @property
    def verdict(self) -> str:
        return "not measured" if self.met is None else "met" if self.met else "missed"


@attrs.frozen(kw_only=True)
class Table:
    """Rows of text under a title."""

    title: str
    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]
    note: str = ""


# -- goals


def goals(results: Results) -> list[Goal]:
    """Every goal, whatever was measured."""
    summaries = {one.subject: one for one in lateness.summaries(results.passes)}
    beside = {(one.name, one.beside): one.ratio for one in offers.comparisons(results.rates)}
    redisson = summaries.get(REDISSON)
    found = []
    for name in (SYNC, ASYNCIO):
        one = summaries.get(name)
        found.append(_at_most(f"{name}: lateness p50 at most 0.6 ms", one, "p50", 0.6))
        found.append(_at_most(f"{name}: lateness p99 at most 2 ms", one, "p99", 2.0))
        for label in ("p90", "p99"):
            limit = redisson.lateness_ms[label].median if redisson else None
            found.append(_at_most(f"{name}: lateness {label} below Redisson's", one, label, limit))
        wrong = None if one is None else one.early + one.lost + one.twice
        text = "" if one is None else f"{one.early} early, {one.lost} lost, {one.twice} twice"
        found.append(
            Goal(text=f"{name}: no item early, lost or twice", found=text, met=None if wrong is None else not wrong)
        )
    for name, other in ((offers.OFFER, offers.PING), (offers.AIO_OFFER, offers.AIO_PING)):
        found.append(_at_least(f"{name} at least 65 % of {other}", beside.get((name, other)), 0.65))
    for name in (offers.OFFER_ALL, offers.AIO_OFFER_ALL):
        ratio = beside.get((name, offers.REDISSON_ASYNC))
        found.append(_at_least(f"{name} at least 10 times {offers.REDISSON_ASYNC}", ratio, 10.0))
        ratio = beside.get((name, offers.RAW))
        found.append(_at_least(f"{name} at least 80 % of {offers.RAW}", ratio, 0.8))
    reached = {
        (one.value, one.direction): one.rate for one in codecs.figures(results.codecs) if one.name == codecs.KRYO
    }
    for value in codecs.SCALARS:
        for direction in (codecs.ENCODE, codecs.DECODE):
            text = f"{codecs.KRYO}, {direction} {value}: at least 500,000 a second"
            found.append(_at_least(text, reached.get((value, direction)), 500_000, digits=0))
    text = f"{codecs.KRYO}, {codecs.DECODE} {codecs.ORDER}: at least 80,000 a second"
    found.append(_at_least(text, reached.get((codecs.ORDER, codecs.DECODE)), 80_000, digits=0))
    return found


def _at_most(text: str, summary: lateness.Summary | None, label: str, limit: float | None) -> Goal:
    if summary is None:
        return Goal(text=text, found="", met=None)
    figure = summary.lateness_ms[label]
    found = f"{figure.text(2)} ms" if limit is None else f"{figure.text(2)} ms, goal {limit:.2f}"
    return Goal(text=text, found=found, met=None if limit is None else figure.median <= limit)


def _at_least(text: str, figure: Spread | None, limit: float, *, digits: int = 2) -> Goal:
    if figure is None:
        return Goal(text=text, found="", met=None)
    return Goal(text=text, found=figure.text(digits), met=figure.median >= limit)


# -- tables


def tables(results: Results) -> list[Table]:
    """The figures of the run; a part that was not measured has no table."""
    made = []
    if results.passes:
        made.append(_lateness_table(results))
    if results.rates:
        made.append(_offers_table(results))
    if results.codecs:
        made.extend(_codec_table(results, direction) for direction in (codecs.ENCODE, codecs.DECODE))
    return made


def _lateness_table(results: Results) -> Table:
    settings = results.settings
    header = ("consumer", *lateness.PERCENTILES, "early", "lost, twice", "transfers an item", "commands an item")
    return Table(
        title=f"Lateness in ms: {settings.items:,} items within {settings.seconds:g} s, {settings.repeat} passes",
        header=header,
        rows=[
            (
                one.subject,
                *(one.lateness_ms[label].text(2) for label in lateness.PERCENTILES),
                f"{one.early}",
                f"{one.lost}, {one.twice}",
                one.transfers_per_item.text(2),
                one.commands_per_item.text(2),
            )
            for one in lateness.summaries(results.passes)
        ],
    )


def _offers_table(results: Results) -> Table:
    settings = results.settings
    return Table(
        title=f"Offers a second: {settings.rounds} rounds of {settings.offers:,} single offers, "
        f"{settings.bulk:,} in bulk, {settings.redisson_offers:,} of Redisson",
        header=("offers", "a second", "beside", "a second", "ratio"),
        rows=[
            (one.name, one.rate.text(0), one.beside, one.beside_rate.text(0), one.ratio.text(2))
            for one in offers.comparisons(results.rates)
        ],
        note=_cold_note(results),
    )


def _codec_table(results: Results, direction: str) -> Table:
    found = {(one.value, one.name): one for one in codecs.figures(results.codecs) if one.direction == direction}
    values = list(dict.fromkeys(value for value, _name in found))
    names = list(dict.fromkeys(name for _value, name in found))
    return Table(
        title=f"Values a second, {direction}: {results.settings.rounds} rounds of {results.settings.slice_ms} ms",
        header=("value", *names),
        rows=[(value, *(f"{found[value, name].rate.median:,.0f}" for name in names)) for value in values],
        note="Medians alone; the spread is in the JSON." if direction == codecs.DECODE else "",
    )


def _cold_note(results: Results) -> str:
    if offers.REDISSON_ASYNC not in results.rates:
        return ""
    cold = " and ".join(
        f"{results.rates[name][0]:,.0f} of {name}" for name in (offers.REDISSON_ASYNC, offers.OFFER_ALL)
    )
    return f"The first round, before the JVM has compiled anything, does not count: {cold}."


def _goals_table(results: Results) -> Table:
    rows = [(goal.text, goal.found, goal.verdict) for goal in goals(results)]
    return Table(title="Goals", header=("goal", "found", "verdict"), rows=rows)


# -- output


def show(results: Results, *, with_goals: bool) -> None:
    """Prints tables on standard output: with rich where it is installed."""
    print("\n".join(results.machine.lines()))
    print(_LEGEND)
    steps = [abs(one.clock_step_us) for one in results.passes]
    if max(steps, default=0) > 200:
        print(f"Beware: the clock was corrected by {max(steps)} us during a pass.")
    for table in [*tables(results), *([_goals_table(results)] if with_goals else [])]:
        if importlib.util.find_spec("rich"):
            _print_rich(table)
        else:
            print(f"\n{_plain(table)}")
        if table.note:
            print(table.note)


def markdown(results: Results, *, with_goals: bool) -> str:
    """The section of docs/benchmarks.md that holds figures."""
    parts = [f"{line}.\n" for line in results.machine.lines()]
    parts.append(f"{_LEGEND}\n")
    for table in [*tables(results), *([_goals_table(results)] if with_goals else [])]:
        rows = [table.header, tuple("---" for _ in table.header), *table.rows]
        parts.append(f"**{table.title}**\n\n" + "\n".join(f"| {' | '.join(row)} |" for row in rows) + "\n")
        if table.note:
            parts.append(f"{table.note}\n")
    return "\n".join(parts)


def to_json(results: Results) -> dict[str, Any]:
    """Every raw figure, then what was made of them."""
    return {
        **attrs.asdict(results, filter=attrs.filters.exclude("codecs")),
        "lateness": [attrs.asdict(one) for one in lateness.summaries(results.passes)],
        "offers": [attrs.asdict(one) for one in offers.comparisons(results.rates)],
        "codecs": [attrs.asdict(one) for one in codecs.figures(results.codecs)],
        "goals": [{**attrs.asdict(goal), "verdict": goal.verdict} for goal in goals(results)],
    }


def _plain(table: Table) -> str:
    widths = [max(map(len, column)) for column in zip(table.header, *table.rows, strict=True)]
    lines = [_padded(row, widths) for row in [table.header, tuple("-" * width for width in widths), *table.rows]]
    return "\n".join([table.title, *lines])


def _padded(row: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _print_rich(table: Table) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable

    # A pipe or a file has no width of its own; figures must not be wrapped there.
    console = Console() if sys.stdout.isatty() else Console(width=200)
    shown = RichTable(title=table.title, title_justify="left", box=box.SIMPLE_HEAD)
    for name in table.header:
        shown.add_column(name)
    for row in table.rows:
        shown.add_row(*row)
    console.print(shown)
