"""The results of a run: tables, JSON with every figure, and the goals.

Later parts have their own tables and goals (``PARTS``). Those of lateness, offers and codecs are here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import attrs

from tests.benchmarks import (
    backlog,
    clients,
    codecs,
    drain,
    few_due,
    growth,
    herd,
    idle,
    lateness,
    leases,
    many,
    memory,
    offers,
    partitions,
    plan,
    takeover,
)
from tests.benchmarks.machine import Machine
from tests.benchmarks.measures import ASYNCIO, REDISSON, SYNC, Run, Settings
from tests.benchmarks.tables import Goal, Table, at_least, at_most, goals_table
from tests.benchmarks.tables import show as show_table

__all__ = ["PARTS", "Part", "Results", "goals", "markdown", "show", "tables", "tables_by_part", "to_json"]


class Part(Protocol):
    """A module that measures something, and says what it means. Its figures are attrs values, one a repetition."""

    def measure(self, run: Run) -> Sequence[Any]:
        """The raw figures, which the JSON has under the part's name."""

    def tables(self, found: Sequence[Any]) -> list[Table]:
        """Of figures that are not empty."""

    def goals(self, found: Sequence[Any]) -> list[Goal]:
        """Every goal of the part, whether it was measured or not."""


#: By the name that ``--only`` takes, in the order of the page.
PARTS: Mapping[str, Part] = {
    "drain": drain,
    "few-due": few_due,
    "backlog": backlog,
    "herd": herd,
    "takeover": takeover,
    "memory": memory,
    "clients": clients,
    "idle": idle,
    "leases": leases,
    "partitions": partitions,
    "growth": growth,
    "many": many,
    "plan": plan,
}

_LEGEND = "Medians; in brackets the least and the greatest repetition."


@attrs.frozen(kw_only=True)
class Results:
    """One run. A part that was not asked for is empty."""

    settings: Settings
    machine: Machine
    passes: list[lateness.Pass]
    rates: offers.Rates
    codecs: codecs.CodecRates
    #: By the names of PARTS.
    parts: dict[str, Sequence[Any]]
    #: Parts that could not be measured, each with the reason.
    failed: dict[str, str]


# -- goals -----------------------------------------------------------------------------------------------------------


def goals(results: Results) -> list[Goal]:
    """Every goal, whatever was measured."""
    summaries = {(one.subject, bool(one.background)): one for one in lateness.summaries(results.passes)}
    beside = {(one.name, one.beside): one for one in offers.comparisons(results.rates)}
    found = []
    for name in (SYNC, ASYNCIO):
        for loaded in (False, True):
            found += _lateness_goals(name, loaded, summaries.get((name, loaded)), summaries.get((REDISSON, loaded)))
    found.append(_flavours_goal(summaries.get((SYNC, False)), summaries.get((ASYNCIO, False))))
    for name, other in ((offers.OFFER, offers.PING), (offers.AIO_OFFER, offers.AIO_PING)):
        found.append(_ratio(f"{name} at least 65 % of {other}", beside.get((name, other)), 0.65))
    for name in (offers.OFFER_ALL, offers.AIO_OFFER_ALL):
        found.append(
            _ratio(f"{name} at least 10 times {offers.REDISSON_ASYNC}", beside.get((name, offers.REDISSON_ASYNC)), 10.0)
        )
        found.append(_ratio(f"{name} at least 80 % of {offers.RAW}", beside.get((name, offers.RAW)), 0.8))
    bulk = beside.get((offers.OFFER_ALL, offers.RAW_VARIADIC))
    text = f"{offers.OFFER_ALL} at least 200,000 a second"
    found.append(at_least(text, bulk.rate if bulk else None, 200_000, digits=0))
    found.append(_ratio(f"{offers.OFFER_ALL} at least 90 % of {offers.RAW_VARIADIC}", bulk, 0.9))
    reached = {
        (one.value, one.direction): one.rate for one in codecs.figures(results.codecs) if one.name == codecs.KRYO
    }
    for value in codecs.SCALARS:
        for direction in (codecs.ENCODE, codecs.DECODE):
            text = f"{codecs.KRYO}, {direction} {value}: at least 500,000 a second"
            found.append(at_least(text, reached.get((value, direction)), 500_000, digits=0))
    text = f"{codecs.KRYO}, {codecs.DECODE} {codecs.ORDER}: at least 80,000 a second"
    found.append(at_least(text, reached.get((codecs.ORDER, codecs.DECODE)), 80_000, digits=0))
    for part, module in PARTS.items():
        found += module.goals(results.parts.get(part, ()))
    return found


def _lateness_goals(
    name: str, loaded: bool, one: lateness.Summary | None, redisson: lateness.Summary | None
) -> list[Goal]:
    who = f"{name}, under load" if loaded else name
    limits = {"p99": 5.0} if loaded else {"p50": 0.6, "p99": 2.0}
    found = [
        at_most(
            f"{who}: lateness {label} at most {limit:g} ms", one.lateness_ms[label] if one else None, limit, unit="ms"
        )
        for label, limit in limits.items()
    ]
    if not loaded:
        found.append(
            at_most(f"{who}: p50 at most 1.3 times the machine's limit", one.times_the_limit if one else None, 1.3)
        )
    for label in ("p99",) if loaded else ("p90", "p99"):
        text = f"{who}: lateness {label} below Redisson's"
        if one is None or redisson is None:
            found.append(Goal(text=text, found="", met=None))
        else:
            limit = redisson.lateness_ms[label].median
            goal = at_most(text, one.lateness_ms[label], limit, unit="ms")
            found.append(attrs.evolve(goal, found=f"{goal.found}, Redisson {limit:.2f}"))
    wrong = 0 if one is None else one.early + one.lost + one.twice
    text = "" if one is None else f"{one.early} early, {one.lost} lost, {one.twice} twice"
    goal = Goal(text=f"{who}: no item early, lost or twice", found=text, met=None if one is None else wrong == 0)
    return [*found, goal]


def _flavours_goal(threads: lateness.Summary | None, coroutines: lateness.Summary | None) -> Goal:
    text = f"{ASYNCIO}: lateness p50 within 0.2 ms of {SYNC}'s"
    if threads is None or coroutines is None:
        return Goal(text=text, found="", met=None)
    ours, theirs = threads.lateness_ms["p50"].median, coroutines.lateness_ms["p50"].median
    return Goal(text=text, found=f"{theirs:.2f} ms, {SYNC} {ours:.2f}", met=theirs - ours <= 0.2)


def _ratio(text: str, one: offers.Comparison | None, limit: float) -> Goal:
    return at_least(text, one.ratio if one else None, limit)


# -- tables ----------------------------------------------------------------------------------------------------------


def tables(results: Results) -> list[Table]:
    """The figures of the run; a part that was not measured has no table."""
    return [table for made in tables_by_part(results).values() for table in made]


def tables_by_part(results: Results) -> dict[str, list[Table]]:
    """The tables of each part that was measured."""
    made = {}
    if results.passes:
        made["lateness"] = [_lateness_table(results)]
    if results.rates:
        made["offers"] = [_offers_table(results)]
    if results.codecs:
        made["codecs"] = [_codec_table(results, direction) for direction in (codecs.ENCODE, codecs.DECODE)]
    return made | {part: PARTS[part].tables(found) for part, found in results.parts.items() if found}


def _lateness_table(results: Results) -> Table:
    settings = results.settings
    header = (
        "consumer",
        "load a second",
        *lateness.PERCENTILES,
        "limit",
        "p50 / limit",
        "from wish p50",
        "from wish p99",
        "early",
        "lost, twice",
        "transfers an item",
        "commands an item",
    )
    return Table(
        title=f"Lateness in ms: {settings.items:,} items within {settings.seconds:g} s, {settings.repeat} passes",
        header=header,
        rows=[
            (
                one.subject,
                f"{one.background:,}",
                *(one.lateness_ms[label].text(2) for label in lateness.PERCENTILES),
                one.limit_ms.text(2),
                one.times_the_limit.text(2),
                *(one.from_wish_ms[label].text(2) for label in ("p50", "p99")),
                f"{one.early}",
                f"{one.lost}, {one.twice}",
                one.transfers_per_item.text(2),
                one.commands_per_item.text(2),
            )
            for one in lateness.summaries(results.passes)
        ],
        chart="lateness",
        note="Load: items that something else offers each second to another queue on the same server. Limit: what the "
        "machine takes by itself right before each pass, Event.wait beyond its timeout and RPUSH to a blocked BLPOP. "
        "From wish: since the moment of offer() and its delay, for other items.",
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
        rows=[
            (value, *(f"{found[value, name].rate.median:,.0f}" if (value, name) in found else "" for name in names))
            for value in values
        ],
        note="Medians alone; the spread is in the JSON." if direction == codecs.DECODE else "",
    )


def _cold_note(results: Results) -> str:
    if offers.REDISSON_ASYNC not in results.rates:
        return ""
    cold = " and ".join(
        f"{results.rates[name][0]:,.0f} of {name}" for name in (offers.REDISSON_ASYNC, offers.OFFER_ALL)
    )
    return f"The first round, before the JVM has compiled anything, does not count: {cold}."


# -- output ----------------------------------------------------------------------------------------------------------


def show(results: Results, *, with_goals: bool) -> None:
    """Prints tables on standard output: with rich where it is installed."""
    print("\n".join(results.machine.lines()))
    print(_LEGEND)
    steps = [abs(one.clock_step_us) for one in results.passes]
    if max(steps, default=0) > 200:
        print(f"Beware: the clock was corrected by {max(steps)} us during a pass.")
    for table in _all(results, with_goals):
        show_table(table)


def markdown(results: Results, *, with_goals: bool) -> str:
    """The section of figures.md that holds figures."""
    parts = [f"{line}.\n" for line in results.machine.lines()]
    parts += [f"{_LEGEND}\n", *(table.markdown() for table in _all(results, with_goals))]
    return "\n".join(parts)


def _all(results: Results, with_goals: bool) -> list[Table]:
    return [*tables(results), *([goals_table(goals(results))] if with_goals else [])]


def to_json(results: Results) -> dict[str, Any]:
    """Every raw figure, then what was made of them."""
    return {
        **attrs.asdict(results, filter=attrs.filters.exclude("codecs", "parts")),
        **{part: [attrs.asdict(one) for one in found] for part, found in results.parts.items()},
        "lateness": [attrs.asdict(one) for one in lateness.summaries(results.passes)],
        "offers": [attrs.asdict(one) for one in offers.comparisons(results.rates)],
        "codecs": [attrs.asdict(one) for one in codecs.figures(results.codecs)],
        "goals": [{**attrs.asdict(goal), "verdict": goal.verdict} for goal in goals(results)],
    }
