"""What is promised, against what was seen.

python -m tests.proof check FILE...      judge histories that were recorded
python -m tests.proof trial NAME         record and judge a small run; without a name, list them
python -m tests.proof ablate [WORD]      take out each safeguard, and require that a trial finds it
"""

from __future__ import annotations

import argparse
import logging
import random
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.proof.ablations import ABLATIONS, FOUND, ablated, table
from tests.proof.checker import check
from tests.proof.trials import TRIALS, trial


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
    for each in (trying, ablating):
        each.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1_000_000))
    logging.getLogger("redisson_dq").addHandler(logging.NullHandler())
    options = parser.parse_args(arguments)
    run: int = options.run(options)
    return run


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
            found.append(ablated(ablation, options.seed))
            print(
                f"{'found' if found[-1].finding else 'NOT FOUND'}: {ablation.safeguard}: {found[-1].told}", flush=True
            )
    print(*table(found), sep="\n")
    missed = sum(not each.finding for each in found)
    print(f"{len(found) - missed} of {len(found)} found")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
