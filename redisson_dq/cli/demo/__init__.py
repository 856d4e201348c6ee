"""``redisson-dq demo``: offer items with mixed delays, take them as they fall due, show how late each was."""

from __future__ import annotations

from typing import Any

import click

from redisson_dq.cli.frame import BoundedNumber

__all__ = ["command"]

_MOST_ITEMS, _MOST_BULK, _MOST_SECONDS = 1_000, 100_000, 3_600


@click.command(help="Offer items with mixed delays, take them as they fall due, and show how late each one was.")
@click.option(
    "--url",
    help="Run on this Redis (redis://, rediss:// or unix://) instead of starting one. All keys have a name of their "
    "own and are deleted at the end.",
)
@click.option(
    "--items",
    metavar="N",
    type=BoundedNumber(int, 1, _MOST_ITEMS),
    default=12,
    help="Items shown one by one (default 12).",
)
@click.option(
    "--bulk",
    metavar="N",
    type=BoundedNumber(int, 0, _MOST_BULK),
    default=300,
    help="More items, offered in one call (default 300; 0 for none).",
)
@click.option(
    "--seconds",
    metavar="S",
    type=BoundedNumber(float, 0.001, _MOST_SECONDS, "a number of seconds"),
    default=6.0,
    help="The longest delay (default 6).",
)
@click.option("--async", "use_async", is_flag=True, help="Use redisson_dq.aio.")
@click.option("--plain", is_flag=True, help="Plain lines, as when not on a terminal.")
def command(**options: Any) -> int:
    """Carry out ``demo``: 0 when every item came exactly once and none early."""
    from redisson_dq.cli.demo._run import run_demo

    return run_demo(**options)
