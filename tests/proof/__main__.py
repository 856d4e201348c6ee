"""What is promised, against what was seen: ``python -m tests.proof check FILE...`` judges recorded histories."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.proof.checker import check


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.proof", description=__doc__)
    commands = parser.add_subparsers(required=True)
    checking = commands.add_parser("check", help="judge histories that were recorded")
    checking.add_argument("files", nargs="+", type=Path)
    checking.add_argument("--ordered", action="append", default=[], help="a queue with one consumer; may be repeated")
    checking.set_defaults(run=_check)
    options = parser.parse_args(arguments)
    run: int = options.run(options)
    return run


def _check(options: argparse.Namespace) -> int:
    found = 0
    for path in options.files:
        report = check(path, ordered=options.ordered)
        print(f"{path}: {report}")
        found += len(report.findings)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
