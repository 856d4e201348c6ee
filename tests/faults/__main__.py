"""Faults against loads, with every item counted: ``python -m tests.faults --help``."""

from __future__ import annotations

import argparse
import logging
import random
import sys
import time
from collections.abc import Iterator, Sequence

from tests.faults.all_loads import LOADS
from tests.faults.kit import FAULTS
from tests.faults.run import Fault, Result, run
from tests.faults.soak import soak


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parsed(arguments)
    if options.list:
        print("faults:", *sorted(FAULTS), sep="\n  ")
        print("loads:", *sorted(LOADS), sep="\n  ")
        return 0
    logging.getLogger("redisson_dq").addHandler(logging.NullHandler())
    seed = random.SystemRandom().randrange(1_000_000) if options.seed is None else options.seed
    print(f"seed {seed}", flush=True)
    if options.soak:
        result = soak(options.soak, seed, by_name=options.by_name)
        print(result)
        return 1 if result.all_findings else 0
    ends = time.monotonic() + 60 * options.minutes if options.minutes else None
    failed: list[Result] = []
    items = runs = 0
    plan = _everything if options.everything else _plan
    for fault, loads, one_seed in plan(options.only, seed, options.seed is not None, ends is not None):
        result = run(fault, loads, one_seed, times=options.times)
        runs += 1
        items += sum(verdict.counts["offered"] for verdict in result.verdicts.values())
        print(result, flush=True)
        if result.all_findings:
            failed.append(result)
        if ends is not None and time.monotonic() > ends:
            break
    print(f"{runs} runs, {items:,} items, {len(failed)} runs with findings")
    for result in failed:
        print(f"  {result.repeat}\n    " + "\n    ".join(map(str, result.all_findings)))
    return 1 if failed else 0


def _plan(only: Sequence[str], seed: int, exact: bool, for_ever: bool) -> Iterator[tuple[Fault, Sequence[str], int]]:
    """The pairs of faults and loads: each once, or repeatedly in other orders and combinations."""
    faults = [FAULTS[name] for name in only if name in FAULTS] or list(FAULTS.values())
    chosen = [name for name in only if name in LOADS]
    rng = random.Random(seed)
    while True:
        for fault in faults:
            possible = [name for name in (chosen or LOADS) if fault.meets(name)]
            if not possible:
                continue
            # Naming a fault and loads repeats a run. Naming only loads lets them meet all faults, some at a time.
            repeats = chosen and any(name in FAULTS for name in only)
            loads = chosen if repeats else rng.sample(possible, min(3, len(possible)))
            yield fault, loads, seed if exact and not for_ever else rng.randrange(1_000_000)
        if not for_ever:
            return
        rng.shuffle(faults)


# The number of loads that meet a fault at the same time. More of them would be slow.
_TOGETHER = 4


def _everything(only: Sequence[str], seed: int, exact: bool, for_ever: bool) -> Iterator[tuple[Fault, list[str], int]]:
    """Each fault with each load of its world, some of them at a time, in random combinations."""
    faults = [name for name in only if name in FAULTS] or list(FAULTS)
    chosen = [name for name in only if name in LOADS] or list(LOADS)
    rng = random.Random(seed)
    for name in faults:
        fault = FAULTS[name]
        loads = [load for load in chosen if fault.meets(load)]
        rng.shuffle(loads)
        for first in range(0, len(loads), _TOGETHER):
            yield fault, loads[first : first + _TOGETHER], rng.randrange(1_000_000)


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument(
        "--minutes", type=float, help="go on for so long, in ever new combinations (default: each fault once)"
    )
    parser.add_argument("--everything", action="store_true", help="each fault with each load (or with those of --only)")
    parser.add_argument("--seed", type=int, help="repeat the run that printed it")
    parser.add_argument("--only", type=_names, default=[], help="faults and loads, separated by commas")
    parser.add_argument("--times", type=int, help="how often the fault comes in a run")
    parser.add_argument(
        "--soak", type=float, metavar="MINUTES", help="one set of clients through all faults, for so long"
    )
    parser.add_argument(
        "--by-name", action="store_true", help="the soak is of failovers behind one name, new passwords and shortages"
    )
    parser.add_argument("--list", action="store_true", help="list faults and loads")
    return parser.parse_args(arguments)


def _names(text: str) -> list[str]:
    names = text.split(",")
    for name in names:
        if name not in FAULTS and name not in LOADS:
            raise argparse.ArgumentTypeError(f"{name!r} is neither a fault nor a load; see --list")
    return names


if __name__ == "__main__":
    sys.exit(main())
