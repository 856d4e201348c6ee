"""All parts of the proof with fresh seeds, and their figures."""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import attrs
import redis

from redisson_dq.embedded import EmbeddedServer
from tests.conftest import PROGRAMS
from tests.proof.ablations import ABLATIONS, ablated
from tests.proof.checker import judged
from tests.proof.crossing import crossed
from tests.proof.kills import SETTINGS, measured
from tests.proof.making import ORDERED, Lines, long, right
from tests.proof.making_bounds import with_bounds
from tests.proof.operations import happened
from tests.proof.planting import PLANTS, planted
from tests.proof.trials import STAGED, trial
from tests.proof.walking import Difference, Walk

__all__ = ["LONG", "Tried", "Extent", "everything", "table"]

# Operations of a history that is made.
_STEPS = 150


@attrs.frozen(kw_only=True)
class Extent:
    """The amount of trials. The defaults take about ten minutes on a quiet machine."""

    #: Right histories, and of each planted defect.
    histories: int = 50
    #: Of one long history.
    operations: int = 50_000
    #: Seeds of simulated worlds, each played twice; and how often one more seed is played.
    worlds: int = 15
    times: int = 25
    #: Of each durability.
    kills: int = 5
    #: "3x2": three items, two ticks of the clock.
    walks: tuple[str, ...] = ("1x3", "2x2")


#: What a night tries.
LONG = Extent(
    histories=1000, operations=1_000_000, worlds=500, times=100, kills=1000, walks=("1x4", "2x2", "3x2", "2x3")
)


@attrs.frozen
class Tried:
    """The result of one part: what was tried, and the findings."""

    part: str
    tried: str
    found: list[str]
    seconds: float

    def __str__(self) -> str:
        found = "; ".join(" ".join(each.split()) for each in self.found) or "nothing"
        return f"| {self.part} | {self.tried} | {found.replace('|', '/')} | {self.seconds:,.0f} |"


def table(rows: list[Tried]) -> list[str]:
    return ["| part | tried | found that should not be | s |", "|---|---|---|---|", *map(str, rows)]


def everything(sizes: Extent, seed: int) -> Iterator[Tried]:
    """A row for each part, when it is done."""
    for part, tried in _parts(sizes, seed):
        began = time.monotonic()
        try:
            what, found = tried()
        except Exception as error:
            # The other parts say what they find all the same.
            what, found = "broke", [f"{type(error).__name__}: {error}"]
        yield Tried(part, what, found, time.monotonic() - began)


_Trying = Callable[[], tuple[str, list[str]]]


def _parts(sizes: Extent, seed: int) -> Iterator[tuple[str, _Trying]]:
    numbers = range(seed, seed + sizes.histories)
    yield "right histories", lambda: _right(numbers)
    for kind in PLANTS:
        yield f"planted: {kind}", lambda kind=kind: _planted(kind, numbers)  # type: ignore[misc]
    yield "a long history", lambda: _long(sizes.operations, seed)
    yield "porcupine", lambda: _crossed(seed)
    for size in sizes.walks:
        yield "every order of the scripts", lambda size=size: _walked(size)  # type: ignore[misc]
    for name in STAGED:
        yield "trial", lambda name=name: _staged(name, seed)  # type: ignore[misc]
    yield "simulated worlds", lambda: _said("world", f"--seed={seed}", f"--runs={sizes.worlds}", "--times=2")
    yield "one world again and again", lambda: _said("world", f"--seed={seed}", f"--times={sizes.times}")
    yield "safeguards removed", lambda: _ablated(seed)
    for name in SETTINGS:
        yield "servers killed", lambda name=name: _killed(name, sizes.kills, seed)  # type: ignore[misc]
    yield "tests of this folder", _tested


def _right(numbers: range) -> tuple[str, list[str]]:
    refused = [f"{number}: a right history is refused" for number in numbers if _finds(_bounded(number))]
    return f"{len(numbers) - len(refused)} of {len(numbers)} accepted", refused


def _bounded(number: int) -> Lines:
    lines = right(number, _STEPS)
    with_bounds(lines, random.Random(number))
    return lines


def _planted(kind: str, numbers: range) -> tuple[str, list[str]]:
    missed = [
        f"planted({kind!r}, {number}, {_STEPS}) is not found"
        for number in numbers
        if not _finds(planted(kind, number, _STEPS))
    ]
    return f"{len(numbers) - len(missed)} of {len(numbers)} found", missed


def _finds(lines: Lines) -> bool:
    return bool(judged([happened(lambda: lines)], ordered=[ORDERED]).findings)


def _long(operations: int, seed: int) -> tuple[str, list[str]]:
    began = time.process_time()
    report = judged([happened(lambda: long(operations, seed))])
    tried = f"{report.operations:,} operations, {time.process_time() - began:,.1f} s of CPU"
    return tried, [str(finding) for finding in report.findings[:3]]


def _crossed(seed: int) -> tuple[str, list[str]]:
    with tempfile.TemporaryDirectory() as folder:
        count, differ = crossed(Path(folder), seed)
    return f"{count} histories", differ


def _walked(size: str) -> tuple[str, list[str]]:
    items, ticks = map(int, size.split("x"))
    with EmbeddedServer(program=PROGRAMS["redis"]()) as server, redis.Redis.from_url(server.url) as admin:
        walk = Walk(admin, items, ticks)
        found = []
        try:
            walk.run()
        except Difference as error:
            found.append(str(error))
    return f"{items} items, {ticks} ticks: {walk.states:,} states, {walk.made.total():,} calls", found


def _staged(name: str, seed: int) -> tuple[str, list[str]]:
    found = trial(name, seed)
    return name, [found] if found else []


def _ablated(seed: int) -> tuple[str, list[str]]:
    missed = []
    for each in ABLATIONS:
        try:
            if not ablated(each, seed).finding:
                missed.append(f"{each.safeguard}: not found")
        except RuntimeError as error:
            missed.append(str(error))
    return f"{len(ABLATIONS) - len(missed)} of {len(ABLATIONS)} found", missed


def _killed(name: str, kills: int, seed: int) -> tuple[str, list[str]]:
    found = measured(SETTINGS[name], kills, seed)
    tried = f"{name}: {kills} kills, {found.confirmed:,} confirmed, {found.lost:,} lost, {found.again:,} there again"
    return tried, [f"after {found.harmful} kills"] if found.setting.is_safe and found.harmful else []


def _said(*words: str) -> tuple[str, list[str]]:
    """The last line of another command of this program."""
    command = [sys.executable, "-m", "tests.proof", *words, "--shrink"]
    done = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True)
    lines = done.stdout.splitlines() or [""]
    return lines[-1], lines[:-1] if done.returncode else []


def _tested() -> tuple[str, list[str]]:
    command = [sys.executable, "-m", "pytest", "-q", "-m", "", "tests/proof"]
    done = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True)
    lines = done.stdout.splitlines() or [""]
    return lines[-1], [line for line in lines if line.startswith(("FAILED", "ERROR"))] or (
        [f"rc {done.returncode}"] if done.returncode else []
    )
