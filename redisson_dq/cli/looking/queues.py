"""``redisson-dq queues``: the queues that Redis has, with their figures."""

from __future__ import annotations

import click

from redisson_dq.cli.frame import DATA, FINE, Column, Output, Server, json_option, server_options
from redisson_dq.cli.looking._values import in_words, span_in_words

__all__ = ["command"]


@click.command(
    help="""Show the queues of the server, Redisson's and ours, with their figures.

    PATTERN chooses names as Redis's KEYS does: 'orders*'. A queue in partitions is one row. A queue is not found that
    has ready values alone and that no client has open: name it, as in stats QUEUE.
    """
)
@click.argument("pattern", metavar="[PATTERN]", required=False)
@server_options
@json_option
def command(pattern: str | None, server: Server, output: Output) -> int:
    """Carry out ``queues``: 0, or 65 where keys of a queue hold another type."""
    from redisson_dq.browsing import overview

    with server.client() as client:
        found = list(overview(client, pattern))
    if output.as_json:
        output.document(
            queues=[
                {
                    "name": each.name,
                    "partitions": each.partitions,
                    "stats": None if each.stats is None else each.stats.to_dict(),
                    "error": None if each.error is None else str(each.error),
                }
                for each in found
            ]
        )
    elif not found:
        output.text(f"no queue {'matches ' + repr(pattern) if pattern else 'was found'}")
    else:
        numbers = [Column(name, right=True) for name in ("waiting", "overdue", "ready", "in flight", "dead")]
        rows: list[list[object]] = []
        for each in found:
            name = each.name if each.partitions is None else f"{each.name} ({each.partitions} partitions)"
            stats = each.stats
            if stats is None:
                rows.append([name, None, None, None, None, None, "", str(each.error)])
                continue
            late = (
                f"{span_in_words(stats.late_by)} late" if stats.overdue else in_words(stats.next_due, stats.server_time)
            )
            counts = [stats.waiting, stats.overdue, stats.ready, stats.in_flight, stats.dead]
            mover = stats.mover.client if stats.mover is not None else _movers(stats.subscribers)
            rows.append([name, *counts, late, "paused" if stats.is_paused else mover])
        output.table(["queue", *numbers, "next due", "moved by"], rows)
    return DATA if any(each.stats is not None and each.stats.wrong_types for each in found) else FINE


def _movers(subscribers: int | None) -> str:
    if subscribers is None:
        return "?"
    return "nobody" if not subscribers else f"{subscribers} client{'s' if subscribers > 1 else ''}"
