"""Draws the figures of a run: ``python -m tests.benchmarks.charts FILE [FILE ...] docs/benchmarks/``

The files are the output of ``--json``. A part that is in none of them gets no chart. Each chart is an SVG file, with
the same bytes for the same figures. Needs the dependency group ``benchmarks``.
"""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from tests.benchmarks.drain import ORDERS
from tests.benchmarks.growth_report import FIGURES, SAID
from tests.benchmarks.measures import ASYNCIO, JAVA_ENTRIES, LEAN, REDISSON, SYNC, percentile
from tests.benchmarks.watching import FROM_CLIENTS

__all__ = ["CHARTS", "draw", "main"]

Figures = Mapping[str, Any]

#: The colour of each contender in all charts, distinguishable without red and green (Okabe and Ito).
_COLORS = {
    REDISSON: "#d55e00",
    SYNC: "#0072b2",
    ASYNCIO: "#56b4e9",
    LEAN: "#009e73",
    JAVA_ENTRIES: "#cc79a7",
}
_OTHER = "#7f7f7f"
_MARKERS = {REDISSON: "s", SYNC: "o", ASYNCIO: "v", LEAN: "^", JAVA_ENTRIES: "D"}

_STYLE = {
    # A light card, readable on dark and white pages.
    "figure.facecolor": "#fbfbfb",
    "axes.facecolor": "#fbfbfb",
    "axes.edgecolor": "#888888",
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "font.size": 10.0,
    "legend.frameon": False,
    "legend.fontsize": 9.0,
    # Text stays text, and the ids do not change between runs.
    "svg.fonttype": "none",
    "svg.hashsalt": "redisson_dq",
}

#: The percentiles of a curve, and those with a label.
_SHARES = [50, 60, 70, 80, 90, 95, 98, 99, 99.5, 99.9]
_SHARE_LABELS = [50, 90, 99, 99.9]


def main(arguments: Sequence[str] | None = None) -> int:
    """Draws the figures in the files, and prints the paths."""
    *files, target = sys.argv[1:] if arguments is None else arguments
    figures: dict[str, Any] = {}
    for file in files:
        figures |= json.loads(Path(file).read_text("utf-8"))
    for path in draw(figures, Path(target)):
        print(path)
    return 0


def draw(figures: Figures, target: Path) -> list[Path]:
    """Writes a chart for all figures there are, and returns the paths."""
    target.mkdir(parents=True, exist_ok=True)
    drawn = []
    with matplotlib.rc_context(_STYLE):
        for name, (part, make) in CHARTS.items():
            if figures.get(part):
                figure, path = make(figures[part]), target / f"{name}.svg"
                if figure is not None:
                    figure.savefig(path, metadata={"Date": None})
                    drawn.append(path)
    return drawn


# -- the charts ------------------------------------------------------------------------------------------------------


def _lateness(passes: Sequence[Any]) -> Figure:
    figure, (axes,) = _panels("How late items arrive", 1)
    late: dict[tuple[str, int], list[int]] = {}
    for one in passes:
        late.setdefault((one["subject"], one["background"]), []).extend(one["lateness_us"])
    for (subject, background), found in late.items():
        # At least 0.05 ms, so that an axis of powers of ten shows it.
        values = [max(0.05, percentile(found, share) / 1000) for share in _SHARES]
        axes.plot(
            [_nines(share) for share in _SHARES],
            values,
            color=_COLORS.get(subject, _OTHER),
            linestyle="--" if background else "-",
            label=f"{subject}, beside {background:,} offers a second" if background else subject,
        )
    axes.set_xscale("log")
    axes.set_xticks([_nines(share) for share in _SHARE_LABELS], [f"p{share:g}" for share in _SHARE_LABELS])
    axes.minorticks_off()
    _logarithmic(axes.yaxis)
    axes.set(xlabel="share of the items", ylabel="lateness at most, ms")
    _legend(figure, axes, 2)
    return figure


def _drain(runs: Sequence[Any]) -> Figure:
    figure, panels = _panels("Time to deliver items that fall due together", len(ORDERS))
    seconds = [one["seconds"] for one in runs]
    for axes, order in zip(panels, ORDERS, strict=True):
        of_order = [one for one in runs if one["order"] == order]
        _lines(axes, of_order, "items", "seconds")
        for one in of_order:
            if one["lost"]:
                axes.annotate("not done", (one["items"], one["seconds"]), xytext=(0, 5), textcoords="offset points")
        _logarithmic(axes.xaxis)
        _logarithmic(axes.yaxis)
        # The same scale for all, or a difference of 1 % would fill its panel.
        axes.set(title=order, xlabel="items", ylim=(min(seconds) / 1.5, max(seconds) * 1.5))
    panels[0].set(ylabel="seconds from the first due time to the last arrival")
    _legend(figure, panels[0], 4)
    return figure


def _few_due(runs: Sequence[Any]) -> Figure:
    figure, panels = _panels(f"{runs[0]['items']:,} items due among many that wait, at random places", 2)
    shown = [
        {
            **one,
            "script": max(0.1, one["longest_script_us"] / 1000),
            "last": one["seconds"] * 1000,
        }
        for one in runs
    ]
    for axes, field, label in zip(
        panels, ("script", "last"), ("longest script call, ms", "last of them there after, ms"), strict=True
    ):
        _lines(axes, shown, "waiting", field)
        _logarithmic(axes.xaxis)
        _logarithmic(axes.yaxis)
        axes.set(xlabel="items that wait", ylabel=label)
    _legend(figure, panels[0], 4)
    return figure


def _herd(passes: Sequence[Any]) -> Figure:
    figure, panels = _panels("Many processes on one queue", 2)
    shown = [
        {
            **one,
            "commands": sum(one["calls"].get(name, 0) for name in FROM_CLIENTS) / len(one["lateness_us"]),
            "p99": percentile(one["lateness_us"], 99) / 1000,
        }
        for one in passes
        if one["lateness_us"]
    ]
    for axes, field, label in zip(panels, ("commands", "p99"), ("commands an item", "lateness p99, ms"), strict=True):
        _lines(axes, shown, "processes", field)
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_formatter(_PLAIN)
        _logarithmic(axes.yaxis)
        axes.set(xlabel="processes", ylabel=label)
    _legend(figure, panels[0], 4)
    return figure


def _memory(found: Sequence[Any]) -> Figure:
    figure, (axes,) = _panels("Server memory of a waiting item, beside Redisson's", 1)
    sizes = sorted({one["value_bytes"] for one in found})
    layouts = list(dict.fromkeys(one["layout"] for one in found))
    each = {(one["layout"], one["value_bytes"]): one["bytes"] / one["items"] for one in found}
    for number, layout in enumerate(layouts):
        places = [place + (number - (len(layouts) - 1) / 2) * 0.26 for place in range(len(sizes))]
        bars = axes.bar(
            places,
            [each[layout, size] / each[REDISSON, size] for size in sizes],
            width=0.24,
            color=_COLORS.get(layout, _OTHER),
            label=layout,
        )
        axes.bar_label(bars, [f"{each[layout, size]:,.0f} B" for size in sizes], padding=2, fontsize=7)
    axes.set_xticks(range(len(sizes)), [f"{size:,} bytes" for size in sizes])
    axes.grid(visible=False, axis="x")
    axes.set(xlabel="size of the value", ylabel="Redisson's = 1")
    axes.set_ylim(0, 1.15)
    _legend(figure, axes, len(layouts))
    return figure


def _partitions(runs: Sequence[Any]) -> Figure:
    figure, panels = _panels("A queue over a cluster of four masters, on the cores of one machine", 2)
    shown = [{**one, "subject": SYNC, "rate": one["items"] / one["offering_s"]} for one in runs]
    for axes, field, label in zip(
        panels, ("rate", "draining_s"), ("offers a second, two producers", "drained by one consumer in s"), strict=True
    ):
        _lines(axes, shown, "partitions", field)
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_formatter(_PLAIN)
        axes.yaxis.set_major_formatter(_PLAIN)
        axes.set(xlabel="partitions", ylabel=label)
        axes.set_ylim(bottom=0)
    return figure


def _peers(found: Sequence[Any]) -> Figure:
    figure, panels = _panels("Beside the task queues", 4)
    names = list(dict.fromkeys(one["peer"] for one in found))
    columns: dict[str, Callable[[Any], float | None]] = {
        "lateness p99, ms": lambda one: _p99(one["lateness"]["lateness_us"]),
        "commands a second, idle": lambda one: sum(one["idle"].values()),
        "enqueued a second": lambda one: one["enqueued_in_bulk"] or one["enqueued"],
        "drained after, ms": lambda one: one["drain"]["last_ms"] if one["drain"] else None,
    }
    for axes, (label, value) in zip(panels, columns.items(), strict=True):
        for place, name in enumerate(names):
            values = [value(one) for one in found if one["peer"] == name]
            known = [one for one in values if one is not None]
            if known:
                axes.barh(place, statistics.median(known), color=_COLORS.get(name, _OTHER))
        axes.set_yticks(range(len(names)), names if axes is panels[0] else [""] * len(names))
        axes.invert_yaxis()
        axes.grid(visible=False, axis="y")
        axes.set_xscale("symlog", linthresh=1)
        axes.xaxis.set_major_formatter(_PLAIN)
        axes.set(xlabel=label)
    return figure


def _growth(curve: str) -> Callable[[Sequence[Any]], Figure | None]:
    """Draws one curve of growth.py, if it was measured."""

    def draw_curve(found: Sequence[Any]) -> Figure | None:
        points = [one for one in found if one["curve"] == curve and one["lateness_us"]]
        if not points:
            return None
        figures = [figure for figure in FIGURES if figure[0] in _GROWING.get(curve, _GROWING["backlog"])]
        made, panels = _panels(f"Growth by {SAID[curve]}", len(figures))
        for axes, (name, value, _, _) in zip(panels, figures, strict=True):
            _lines(axes, [{**one, name: value(one)} for one in points], "size", name)
            axes.set_xscale("log")
            axes.xaxis.set_major_formatter(_PLAIN)
            axes.yaxis.set_major_formatter(_PLAIN)
            axes.set(xlabel=curve, ylabel=name)
            axes.set_ylim(bottom=0)
        _legend(made, panels[0], 4)
        return made

    return draw_curve


_OF_ITEMS = ("p50, ms", "p99, ms", "commands an item", "server us an item")
_OF_QUEUES = ("p99, ms", "idle commands a second", "connections", "threads")
#: The figures that a curve shows.
_GROWING = {"backlog": _OF_ITEMS, "queues": _OF_QUEUES, "worker": _OF_QUEUES}

#: By file name: the part of the JSON, and the function that draws it.
CHARTS: dict[str, tuple[str, Callable[[Sequence[Any]], Figure | None]]] = {
    "lateness": ("passes", _lateness),
    "drain": ("drain", _drain),
    "few-due": ("few-due", _few_due),
    "herd": ("herd", _herd),
    "memory": ("memory", _memory),
    "partitions": ("partitions", _partitions),
    **{f"growth-{curve.replace(' ', '-')}": ("growth", _growth(curve)) for curve in SAID},
    "peers": ("peers", _peers),
}

# -- what they are made of -------------------------------------------------------------------------------------------


def _number(value: float) -> str:
    if value >= 1_000_000:
        return f"{value / 1_000_000:g}M"
    return f"{value / 1000:g}k" if value >= 10_000 else f"{value:g}"


_PLAIN = FuncFormatter(lambda value, _place: _number(value))
#: Between two powers of ten.
_TWO_AND_FIVE = FuncFormatter(lambda value, _place: _number(value) if f"{value:e}"[0] in "25" else "")


def _panels(title: str, count: int) -> tuple[Figure, list[Any]]:
    figure = Figure(figsize=(6.4 + 2.2 * (count - 1), 4.4), layout="constrained")
    figure.suptitle(title, fontsize=12, fontweight="bold")
    return figure, list(figure.subplots(1, count, squeeze=False)[0])


def _lines(axes: Any, runs: Sequence[Any], across: str, field: str) -> None:
    """A line for each subject through the medians, with the smallest and the largest repetition."""
    for subject in dict.fromkeys(one["subject"] for one in runs):
        values: dict[float, list[float]] = {}
        for one in runs:
            if one["subject"] == subject:
                values.setdefault(one[across], []).append(one[field])
        places = sorted(values)
        medians = [statistics.median(values[place]) for place in places]
        below = [median - min(values[place]) for median, place in zip(medians, places, strict=True)]
        above = [max(values[place]) - median for median, place in zip(medians, places, strict=True)]
        axes.errorbar(
            places,
            medians,
            yerr=[below, above],
            color=_COLORS.get(subject, _OTHER),
            marker=_MARKERS.get(subject, "o"),
            markersize=5,
            capsize=2,
            linewidth=1.4,
            label=subject,
        )


def _logarithmic(axis: Any) -> None:
    axis.axes.set(**{f"{axis.axis_name}scale": "log"})
    axis.set_major_formatter(_PLAIN)
    low, high = axis.get_view_interval()
    # Only if there is room: over more than two powers of ten, the powers are enough.
    axis.set_minor_formatter(_TWO_AND_FIVE if high < 200 * low else NullFormatter())


def _legend(figure: Figure, axes: Any, columns: int) -> None:
    """The legend, below all panels, where it hides no line."""
    figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=columns)


def _nines(share: float) -> float:
    """N, if one of N is later: 2 for p50, 100 for p99."""
    return round(100 / (100 - share), 6)


def _p99(late_us: Sequence[int]) -> float | None:
    return percentile(late_us, 99) / 1000 if late_us else None


if __name__ == "__main__":
    sys.exit(main())
