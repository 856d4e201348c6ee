"""``redisson-dq queues``: the queues that Redis has, with their figures."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from redisson_dq.cli.frame import (
    DATA,
    FINE,
    Column,
    Output,
    Server,
    code_of,
    json_option,
    server_options,
    tell_part_of_cluster,
)
from redisson_dq.cli.looking._values import in_words, span_in_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redisson_dq.browsing import Overview
    from redisson_dq.cli.documents.looking import QueuesDocument

__all__ = ["command"]

_NOT_FOUND = "Queues with only ready values are found by name: redisson-dq queues QUEUE"


@click.command(
    help="""Show the queues of the server, Redisson's and ours, with their figures.

    PATTERN chooses names as Redis's KEYS does: 'orders*'. A queue in partitions is one row. A queue that has
    only ready values and is open in no client is found by its full name: queues QUEUE.
    """
)
@click.argument("pattern", metavar="[PATTERN]", required=False)
@server_options
@json_option
def command(pattern: str | None, server: Server, output: Output) -> int:
    """Carry out ``queues``: 0, or 65 where PATTERN is the name of a queue of which a key holds another type."""
    from redisson_dq.browsing import overview

    with server.client() as client:
        tell_part_of_cluster(client)
        found = list(overview(client, pattern))
    if output.as_json:
        told: QueuesDocument = {
            "queues": [
                {"name": each.name, "partitions": each.partitions, "stats": each.stats, "error": each.problem}
                for each in found
            ]
        }
        output.document(**told)
        return _exit_code(found, pattern)
    if not found:
        output.text(f"no queue {'matches ' + repr(pattern) if pattern else 'was found'}")
    else:
        numbers = [Column(name, right=True) for name in ("waiting", "overdue", "ready", "in flight", "dead")]
        rows: list[list[object]] = []
        for each in found:
            name = each.name if each.partitions is None else f"{each.name} ({each.partitions} partitions)"
            stats = each.stats
            if stats is None:
                rows.append([name, None, None, None, None, None, "", each.problem])
                continue
            late = (
                f"{span_in_words(stats.late_by)} late" if stats.overdue else in_words(stats.next_due, stats.server_time)
            )
            counts = [stats.waiting, stats.overdue, stats.ready, stats.in_flight, stats.dead]
            mover = stats.mover.client if stats.mover is not None else _movers(stats.subscribers)
            rows.append([name, *counts, late, each.problem or ("paused" if stats.is_paused else mover)])
        output.table(["queue", *numbers, Column("next due", spare=1), "moved by"], rows)
    if not _is_one(pattern):
        output.text(_NOT_FOUND)
    return _exit_code(found, pattern)


def _exit_code(found: Sequence[Overview], pattern: str | None) -> int:
    """When all queues are listed, a broken queue only fails the command if there is no other queue."""
    if not found or not (_is_one(pattern) or all(each.stats is None for each in found)):
        return FINE
    if found[0].error is not None:
        return code_of(found[0].error)
    return DATA if found[0].problem is not None else FINE


def _is_one(pattern: str | None) -> bool:
    """Whether the pattern is the name of one queue."""
    from redisson_dq.admin.names import exact_name

    return pattern is not None and exact_name(pattern) is not None


def _movers(subscribers: int | None) -> str:
    if subscribers is None:
        return "?"
    return "nobody" if not subscribers else f"{subscribers} client{'s' if subscribers > 1 else ''}"
