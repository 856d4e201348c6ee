"""``redisson-dq partitions``: the names of a queue's partitions, for programs that open them one by one, as in Java."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from redisson_dq.cli.frame import FINE, Output, json_option, say

if TYPE_CHECKING:
    from redisson_dq.cli.documents.others import PartitionsDocument

__all__ = ["command"]


@click.command(help="Print the names of the partitions of a queue, one per line.")
@click.argument("name", metavar="NAME")
@click.argument("count", metavar="COUNT", type=int)
@click.option(
    "--prefix",
    metavar="TEXT",
    help="The prefix that the clients' name mapper adds to every name. It is not printed, but the names depend on it.",
)
@json_option
def command(name: str, count: int, prefix: str | None, output: Output) -> int:
    """Prints them. NAME has no braces, and COUNT is 1 to 1024."""
    from redisson_dq import partition_names

    names = partition_names(name, count, prefix)
    if output.as_json:
        told: PartitionsDocument = {"queue": name, "partitions": names}
        output.document(**told)
        return FINE
    for each in names:
        # Programs get the names unescaped.
        say(each) if sys.stdout.isatty() else print(each)
    return FINE
