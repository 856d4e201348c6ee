"""``redisson-dq demo``: offer items with mixed delays, take them as they fall due, show how late each was."""

from __future__ import annotations

import argparse
import math

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
    parser.add_argument(
        "--items",
        type=_Whole(1, _MOST_ITEMS),
        default=12,
        metavar="N",
        help="items shown one by one (default 12)",
    )
    parser.add_argument(
        "--bulk",
        type=_Whole(0, _MOST_BULK),
        default=300,
        metavar="N",
        help="more items, offered in one call and counted together (default 300; 0 for none)",
    )
    parser.add_argument("--seconds", type=_seconds, default=6.0, metavar="S", help="the longest delay (default 6)")
    parser.add_argument("--async", dest="use_async", action="store_true", help="use redisson_dq.aio")
    parser.add_argument("--plain", action="store_true", help="plain lines, as when not on a terminal")


def run(arguments: argparse.Namespace) -> int:
    """Carry out ``demo``: 0 when every item came exactly once and none early."""
    from redisson_dq.cli.demo._run import run_demo

    options = vars(arguments)
    return run_demo(**{name: options[name] for name in ("url", "items", "bulk", "seconds", "use_async", "plain")})


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds <= _MOST_SECONDS:
        raise argparse.ArgumentTypeError(f"a number of seconds above 0, {_MOST_SECONDS} at most, not {text!r}")
    return seconds


class _Whole:
    """A whole number within bounds, as argparse's ``type=``."""

    def __init__(self, least: int, most: int) -> None:
        self._least, self._most = least, most

    def __call__(self, text: str) -> int:
        number = int(text) if text.isdecimal() else -1
        if not self._least <= number <= self._most:
            raise argparse.ArgumentTypeError(f"a whole number from {self._least} to {self._most}, not {text!r}")
        return number
