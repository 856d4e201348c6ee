"""``redisson-dq partitions``: the names of a queue's partitions, for programs that open them one by one, as in Java."""

from __future__ import annotations

import argparse

__all__ = ["HELP", "add_arguments", "run"]

HELP = "Print the names of the partitions of a queue, one a line."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of ``partitions``."""
    parser.add_argument("name", metavar="NAME", help="the queue's name, without braces")
    parser.add_argument("count", metavar="COUNT", type=int, help="how many partitions it has, 1 to 1024")
    parser.add_argument(
        "--prefix",
        metavar="TEXT",
        help="what the clients' name mapper puts before every name. It is not printed, but the names depend on it",
    )


def run(arguments: argparse.Namespace) -> int:
    """Carry out ``partitions``: 0 when the names were printed."""
    from redisson_dq.wire.partitions import partition_names

    for name in partition_names(arguments.name, arguments.count, arguments.prefix):
        print(name)
    return 0
