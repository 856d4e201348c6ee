"""What is promised, against what was seen.

python -m tests.proof check FILE...      judge histories that were recorded
python -m tests.proof trial NAME         record and judge a small run; without a name, list them
python -m tests.proof ablate [WORD]      take out each safeguard, and require that a trial finds it
python -m tests.proof world              play worlds that seeds decide, in a time that is counted
python -m tests.proof kills [SETTING]    kill servers of each durability, and count what confirmed calls have lost
python -m tests.proof all                all of these with fresh seeds, and the tests of this folder
"""

from __future__ import annotations

import argparse
import logging
import random
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import attrs

from tests.proof.ablations import ABLATIONS, FOUND, ablated, table
from tests.proof.checker import check, judged
from tests.proof.kills import SETTINGS, measured
from tests.proof.kills import table as kills_table
from tests.proof.making import ORDERED, Lines, right
from tests.proof.operations import happened
from tests.proof.planting import PLANTS, planted
from tests.proof.simulated.search import Worlds, shrunk, with_fixed_hashes
from tests.proof.simulated.steps import planned
from tests.proof.trials import STAGED, TRIALS, trial

_PAGE = Path(__file__).resolve().parents[2] / "docs" / "model.md"
_PROOF = [sys.executable, "-m", "tests.proof"]
_START, _END = "<!-- made by python -m tests.proof ablate --write -->", "<!-- end of ablate -->"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.proof", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    checking = commands.add_parser("check", help="judge histories that were recorded")
    checking.add_argument("files", nargs="+", type=Path)
    checking.add_argument("--ordered", action="append", default=[], help="a queue with one consumer; may be repeated")
    checking.add_argument("--within", type=float, help="seconds in which each item has to come that is due")
    checking.set_defaults(run=_check)
    trying = commands.add_parser("trial", help="record and judge a small run")
    trying.add_argument("name", nargs="?", help=", ".join(TRIALS))
    trying.set_defaults(run=_trial)
    ablating = commands.add_parser("ablate", help="take out each safeguard, and require that a trial finds it")
    ablating.add_argument("word", nargs="?", default="", help="those whose name has this in it")
    ablating.set_defaults(run=_ablate)
    ablating.add_argument("--trial", help="another trial than the one that each is for: world")
    killing = commands.add_parser("kills", help="kill servers of each durability, and count what was lost")
    killing.add_argument("setting", nargs="*", help=", ".join(SETTINGS))
    killing.add_argument("--kills", type=int, default=10, help="of each setting")
    killing.set_defaults(run=_kills)
    worlds = commands.add_parser("world", help="play worlds that seeds decide; prints each one's digest")
    worlds.add_argument("--runs", type=int, default=1, help="how many seeds, from --seed on")
    worlds.add_argument("--times", type=int, default=1, help="how often each, which has to be the same each time")
    worlds.add_argument("--shrink", action="store_true", help="reduce one with a finding to a few steps, as a test")
    worlds.set_defaults(run=_world)
    ablating.add_argument("--write", action="store_true", help="write the table into docs/model.md")
    everything = commands.add_parser("all", help="all of it, with fresh seeds, and all tests of this folder")
    everything.add_argument("--kills", type=int, default=10, help="of each setting")
    everything.add_argument("--worlds", type=int, default=25, help="seeds of simulated worlds")
    everything.add_argument("--histories", type=int, default=100, help="of each kind that is planted")
    everything.set_defaults(run=_all)
    for each in (trying, ablating, killing, worlds, everything):
        each.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000))
    logging.getLogger("redisson_dq").addHandler(logging.NullHandler())
    options = parser.parse_args(arguments)
    run: int = options.run(options)
    return run


def _world(options: argparse.Namespace) -> int:
    with_fixed_hashes(["-m", "tests.proof", "world", *_words(options)])
    failed, days, began = 0, 0.0, time.monotonic()
    with Worlds() as worlds:
        for seed in range(options.seed, options.seed + options.runs):
            plan = planned(seed)
            played = [worlds.play(plan) for _ in range(options.times)]
            found = sorted({finding for each in played for finding in each.findings})
            if len({each.digest for each in played}) > 1:
                found.append("differs: one seed had several histories")
            print(f"world {seed}: {played[0].digest[:16]}", *found, sep="\n  ", flush=True)
            failed += bool(found)
            days += sum(each.seconds for each in played) / 86400
            if found and options.shrink:
                print(shrunk(plan, worlds.play), flush=True)
    took = time.monotonic() - began
    print(f"{options.runs} worlds, {failed} with findings; {days:,.1f} days in {took:,.0f} s")
    return FOUND if failed else 0


def _words(options: argparse.Namespace) -> list[str]:
    """The arguments of ``world`` once more, with the seed that was chosen."""
    words = [f"--{name}={getattr(options, name)}" for name in ("seed", "runs", "times")]
    return [*words, "--shrink"] if options.shrink else words


def _check(options: argparse.Namespace) -> int:
    found = 0
    for path in options.files:
        report = check(path, ordered=options.ordered, within=options.within)
        print(f"{path}: {report}")
        found += len(report.findings)
    return 1 if found else 0


def _trial(options: argparse.Namespace) -> int:
    if options.name is None:
        print(*TRIALS, sep="\n")
        return 0
    found = trial(options.name, options.seed)
    print(found or f"{options.name}, seed {options.seed}: nothing found")
    return FOUND if found else 0


def _ablate(options: argparse.Namespace) -> int:
    print(f"seed {options.seed}", flush=True)
    found = []
    for ablation in ABLATIONS:
        if options.word.lower() in ablation.safeguard.lower():
            if options.trial:
                ablation = attrs.evolve(ablation, trial=options.trial)
            found.append(ablated(ablation, options.seed, tries=1 if options.trial else 4))
            print(
                f"{'found' if found[-1].finding else 'NOT FOUND'}: {ablation.safeguard}: {found[-1].told}", flush=True
            )
    print(*table(found), sep="\n")
    if options.write:
        before, start, rest = _PAGE.read_text("utf-8").partition(_START)
        _, end, after = rest.partition(_END)
        _PAGE.write_text("\n".join([before + start, "", *table(found), "", end + after]), "utf-8")
    missed = sum(not each.finding for each in found)
    print(f"{len(found) - missed} of {len(found)} found")
    return 1 if missed else 0


def _kills(options: argparse.Namespace) -> int:
    print(f"seed {options.seed}", flush=True)
    found = []
    for name in options.setting or SETTINGS:
        found.append(measured(SETTINGS[name], options.kills, options.seed))
        print(f"{name}: {found[-1].lost} lost, {found[-1].again} there again", flush=True)
    print(*kills_table(found), sep="\n")
    return 1 if any(each.harmful for each in found if each.setting.is_safe) else 0


def _all(options: argparse.Namespace) -> int:
    """Everything, with seeds that nobody has tried. Prints one table at the end."""
    seed = options.seed
    print(f"seed {seed}", flush=True)
    rows: list[tuple[str, str, list[str]]] = []

    def add(part: str, size: str, failed: list[str]) -> None:
        rows.append((part, size, failed))
        print(f"{part}, {size}: {'; '.join(failed) or 'as it should be'}", flush=True)

    numbers = range(seed, seed + options.histories)
    refused = [f"right({number}, 150) was refused" for number in numbers if _judged(right(number, 150))]
    add("right histories", f"{options.histories}", refused)
    for kind in PLANTS:
        missed = [f"planted({kind!r}, {number}, 150)" for number in numbers if not _judged(planted(kind, number, 150))]
        add(f"planted: {kind}", f"{options.histories}", [f"not found: {each}" for each in missed])
    for name in STAGED:
        add(f"trial: {name}", "1", [found] if (found := trial(name, seed)) else [])
    world = ["world", f"--seed={seed}", f"--runs={options.worlds}", "--times=2", "--shrink"]
    add("simulated worlds", f"{options.worlds} seeds, twice each", _failed([*_PROOF, *world]))
    settings = argparse.Namespace(**vars(options), word="", trial=None, write=False, setting=[])
    add("safeguards taken out", f"{len(ABLATIONS)}", ["not all were found"] if _ablate(settings) else [])
    add("servers killed", f"{options.kills} of each setting", ["confirmed calls were lost"] if _kills(settings) else [])
    tests = [sys.executable, "-m", "pytest", "-q", "-m", "", "tests/proof"]
    add("tests of this folder", "all", _failed(tests))
    print("| part | tried | found that should not be |", "|---|---|---|", sep="\n")
    for part, size, failed in rows:
        print(f"| {part} | {size} | {'; '.join(failed) or 'nothing'} |")
    return 1 if any(failed for _, _, failed in rows) else 0


def _failed(command: list[str]) -> list[str]:
    return ["see above"] if subprocess.run(command, check=False).returncode else []


def _judged(lines: Lines) -> bool:
    return bool(judged([happened(lambda: lines)], ordered=[ORDERED]).findings)


if __name__ == "__main__":
    sys.exit(main())
