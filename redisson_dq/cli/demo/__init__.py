"""``redisson-dq demo``: offer items with mixed delays, take them as they fall due, show how late each was."""

from __future__ import annotations

import argparse
import math

import attrs

__all__ = ["HELP", "add_arguments", "run"]

HELP = "Offer items with mixed delays, take them as they fall due, and show how late each one was."

_MOST_ITEMS, _MOST_BULK, _MOST_SECONDS = 1_000, 100_000, 3_600


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``demo``."""
    parser.add_argument(
        "--url",
        help="run on this Redis (redis://, rediss:// or unix://) instead of starting one; "
        "all keys have a name of their own and are deleted at the end",
    )
    numbers = (
        ("--items", "N", _NumberWithin(int, 1, _MOST_ITEMS), 12, "items shown one by one (default 12)"),
        (
            "--bulk",
            "N",
            _NumberWithin(int, 0, _MOST_BULK),
            300,
            "more items, offered in one call (default 300; 0 for none)",
        ),
        ("--seconds", "S", _NumberWithin(float, 0.001, _MOST_SECONDS), 6.0, "the longest delay (default 6)"),
    )
    for option, letter, kind, default, text in numbers:
        parser.add_argument(option, type=kind, default=default, metavar=letter, help=text)
    parser.add_argument("--async", dest="use_async", action="store_true", help="use redisson_dq.aio")
    parser.add_argument("--plain", action="store_true", help="plain lines, as when not on a terminal")


def run(arguments: argparse.Namespace) -> int:
    """Carry out ``demo``: 0 when every item came exactly once and none early."""
    from redisson_dq.cli.demo._run import run_demo

    options = vars(arguments)
    return run_demo(**{name: options[name] for name in ("url", "items", "bulk", "seconds", "use_async", "plain")})


@attrs.frozen
class _NumberWithin:
    """A number within bounds, as argparse's ``type=``."""

    kind: type[int] | type[float]
    least: float
    most: float

    def __call__(self, text: str) -> float:
        try:
            number = self.kind(text)
        except ValueError:
            number = math.nan
        if not self.least <= number <= self.most:
            what = "a whole number" if self.kind is int else "a number of seconds"
            raise argparse.ArgumentTypeError(f"{what} from {self.least} to {self.most}, not {text!r}")
        return number
