"""Compares the promises with recorded behaviour.

python -m tests.proof check FILE...      judge histories that were recorded
python -m tests.proof trial NAME         record and judge a small run; without a name, list them
python -m tests.proof ablate [WORD]      take out each safeguard, and require that a trial finds it
python -m tests.proof world              play worlds that seeds decide, in a time that is counted
python -m tests.proof kills [SETTING]    kill servers of each durability, and count what confirmed calls have lost
python -m tests.proof all                all of these with fresh seeds, and the tests of this folder
python -m tests.proof others [NAME]      kill servers beside other task queues, and count what became of their jobs
"""

from __future__ import annotations

import argparse
import logging
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import attrs

from tests.proof.ablations import ABLATIONS, FOUND, ablated, table
from tests.proof.checker import check
from tests.proof.everything import LONG, Extent, everything
from tests.proof.everything import table as parts_table
from tests.proof.kills import SETTINGS, measured
from tests.proof.kills import table as kills_table
from tests.proof.others import OTHERS, killed
from tests.proof.others import table as others_table
from tests.proof.simulated.search import Worlds, shrunk, with_fixed_hashes
from tests.proof.simulated.steps import kept, planned
from tests.proof.trials import TRIALS, trial

_PAGE = Path(__file__).resolve().parents[2] / "docs" / "model.md"
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
    whole = commands.add_parser("all", help="all of it, with fresh seeds, and all tests of this folder")
    whole.add_argument("--long", action="store_true", help="as much as a night tries, where no other option says less")
    for name, help in (
        ("histories", "that are right, and of each planted defect"),
        ("operations", "of one long history"),
        ("worlds", "seeds of simulated worlds, each played twice"),
        ("times", "how often one more seed is played"),
        ("kills", "of each durability"),
    ):
        whole.add_argument(f"--{name}", type=int, help=f"{help} ({getattr(Extent(), name):,})")
    whole.add_argument("--walks", nargs="+", help="items x ticks of every order")
    whole.set_defaults(run=_all)
    beside = commands.add_parser("others", help="the same kills beside other task queues, in environments of their own")
    beside.add_argument("name", nargs="*", help=", ".join(OTHERS))
    beside.add_argument("--appendfsync", default="everysec", choices=("always", "everysec", "no"))
    beside.add_argument("--kills", type=int, default=200, help="of each (200)")
    beside.add_argument("--within", type=float, default=420, help="seconds of kills of each (420)")
    beside.set_defaults(run=_others)
    for each in (trying, ablating, killing, worlds, whole, beside):
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
            if played[0].findings and options.shrink:
                path = kept(shrunk(plan, worlds.play), played[0].findings[0].partition("\n")[0])
                print(f"a test from now on: {path}", flush=True)
    took = time.monotonic() - began
    sizes = f"{options.runs} worlds, {options.times} times each"
    print(f"{sizes}: {failed} with findings; {days:,.1f} days in {took:,.0f} s")
    return FOUND if failed else 0


def _words(options: argparse.Namespace) -> list[str]:
    """The arguments that repeat ``world`` with the chosen seed."""
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
    given = {each.name: getattr(options, each.name) for each in attrs.fields(Extent)}
    given = {name: tuple(size) if name == "walks" else size for name, size in given.items() if size is not None}
    sizes = attrs.evolve(LONG if options.long else Extent(), **given)
    print(f"seed {options.seed}", *parts_table([]), sep="\n", flush=True)
    rows = []
    for row in everything(sizes, options.seed):
        rows.append(row)
        print(row, flush=True)
    failed = [row.part for row in rows if row.found]
    print(f"{len(rows)} parts in {sum(row.seconds for row in rows):,.0f} s: {'; '.join(failed) or 'as it should be'}")
    return 1 if failed else 0


def _others(options: argparse.Namespace) -> int:
    print(*others_table([]), sep="\n", flush=True)
    for name in options.name or OTHERS:
        outcome = killed(name, options.appendfsync, options.kills, options.seed, options.within)
        print(others_table([outcome])[-1], flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
