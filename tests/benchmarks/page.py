"""The sections of figures.md in this folder: each part has one, and a run replaces those of its parts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tests.benchmarks.machine import Machine
from tests.benchmarks.tables import Table

__all__ = ["CHARTS", "PAGE", "draw", "replaced", "section"]

PAGE = Path(__file__).resolve().parent / "figures.md"
CHARTS = Path(__file__).resolve().parents[2] / "docs" / "benchmarks"


def section(command: str, machine: Machine, tables: Iterable[Table]) -> str:
    """The text of a section: the command, the machine, the tables with their charts."""
    where, programs = machine.lines()
    said = f"`python -m tests.benchmarks {command}`. {where}. {programs}."
    return "\n\n".join([said, *(table.markdown(brief=True).strip() for table in tables)])


def replaced(text: str, name: str, figures: str) -> str:
    """The page with new figures in the section of a part. Raises ValueError if the page has no such section."""
    begin, end = f"<!-- figures: {name} -->", f"<!-- end of {name} -->"
    pattern = re.compile(f"{re.escape(begin)}\n.*?{re.escape(end)}", re.DOTALL)
    if len(pattern.findall(text)) != 1:
        raise ValueError(f"the page has no section {begin} ... {end}")
    return pattern.sub(lambda _: f"{begin}\n\n{figures}\n\n{end}", text)


def draw(figures: Mapping[str, Any]) -> str:
    """Draws the charts of these figures for docs/benchmarks.md. Returns the text to print."""
    try:
        from tests.benchmarks import charts
    except ModuleNotFoundError as error:
        return f"no charts: {error.name} is not installed (dependency group benchmarks)"
    drawn = charts.draw(figures, CHARTS)
    return f"drew {', '.join(path.name for path in drawn)}" if drawn else "no charts of these parts"
