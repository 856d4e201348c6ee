"""The table of docs/compatibility.md, made from results."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from tests.compatibility.combinations import Result
from tests.compatibility.environments import ROOT
from tests.versions import PYTHONS, REDISSONS

__all__ = ["BEGIN", "END", "PAGE", "section", "write"]

PAGE = ROOT / "docs" / "compatibility.md"
BEGIN, END = "<!-- made by python -m tests.compatibility --write -->\n", "<!-- end of the runs -->\n"


def write(results: Sequence[Result]) -> None:
    """Replaces the section of the page."""
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n{section(results)}\n{END}{rest.partition(END)[2]}", "utf-8")


def section(results: Sequence[Result]) -> str:
    """How many were tried, the two tables, and each combination that failed."""
    passed = sum(not each.failure for each in results)
    versions = zip(*((each.python, each.redis_py, each.server, each.redisson) for each in results), strict=True)
    there_are = math.prod(len(set(each)) for each in versions)
    lines = [f"{len(results)} of {there_are} combinations were tried. {passed} of {len(results)} passed.", ""]
    lines += _table(results, lambda each: f"Redisson {each.redisson}", lambda each: each.server)
    lines.append("")
    lines += _table(results, lambda each: f"Python {each.python}", lambda each: f"redis-py {each.redis_py}")
    run = {each.python.rpartition(".")[0] for each in results}
    if missing := [minor for minor in PYTHONS if minor not in run]:
        lines += ["", f"Not run, as the machine had none: Python {', '.join(missing)}."]
    if untried := sorted(set(REDISSONS) - {each.redisson for each in results}):
        lines += ["", f"Not tried: Redisson {', '.join(untried)}."]
    lines += [
        f"- Python {each.python}, redis-py {each.redis_py}, {each.server}, Redisson {each.redisson}: {each.failure}"
        for each in results
        if each.failure
    ]
    return "\n".join(lines) + "\n"


def _table(results: Sequence[Result], row: Callable[[Result], str], column: Callable[[Result], str]) -> list[str]:
    rows, columns = (sorted({name(each) for each in results}, key=_by_number) for name in (row, column))
    lines = [f"| | {' | '.join(columns)} | on |", f"|---|{'---|' * len(columns)}---|"]
    for first in rows:
        cells = []
        for second in columns:
            found = [each for each in results if (row(each), column(each)) == (first, second)]
            cells.append(f"{sum(not each.failure for each in found)} of {len(found)}" if found else "not tried")
        days = sorted({each.day for each in results if row(each) == first})
        cells.append(days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}")
        lines.append(f"| {first} | {' | '.join(cells)} |")
    return lines


def _by_number(name: str) -> tuple[str, list[int]]:
    word, _, version = name.rpartition(" ")
    return word, [int(part) for part in version.split(".")]
