"""``redisson-dq peek``: the values that would be taken next."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from redisson_dq.cli.frame import (
    FINE,
    BoundedNumber,
    Output,
    Server,
    found_partitions,
    json_option,
    partitions_option,
    queue_argument,
    server_options,
)
from redisson_dq.cli.looking._values import (
    ValueChoice,
    as_fields,
    in_words,
    short,
    value_options,
)

if TYPE_CHECKING:
    from redisson_dq.browsing import SeenIn, SeenItem
    from redisson_dq.cli.documents.looking import PeekDocument

__all__ = ["command"]


@click.command(help="Show the values that QUEUE gives next: those that are ready, then those that wait.")
@queue_argument
@click.option(
    "--count",
    metavar="N",
    type=BoundedNumber(int, 1, 1000, "a number of values"),
    default=1,
    help="How many values (1).",
)
@value_options
@partitions_option
@server_options
@json_option
def command(queue: str, count: int, values: ValueChoice, partitions: int | None, server: Server, output: Output) -> int:
    """Carry out ``peek``. Nothing is taken."""
    from redisson_dq.browsing import browse

    reader = values.reader()
    with server.client() as client:
        options: dict[str, Any] = {"partitions": found_partitions(client, queue, partitions), "head": 1 << 20}
        rows: list[SeenItem] = []
        states: tuple[SeenIn, ...] = ("ready", "waiting")
        for state in states:
            after: str | None = None
            while len(rows) < count:
                page = browse(client, queue, state, after=after, limit=count - len(rows), **options)
                rows += page.rows
                after = page.next
                if after is None:
                    break
    found = [(row, reader.read(row.data, is_whole=row.is_whole, queue=row.queue)) for row in rows]
    if output.as_json:
        told: PeekDocument = {"queue": queue, "items": [as_fields(row, decoded) for row, decoded in found]}
        output.document(**told)
        return FINE
    if not found:
        output.text(f"{queue} is empty")
    for row, decoded in found:
        output.text(f"{'ready' if row.state == 'ready' else in_words(row.due, row.now)}: {short(decoded)}")
    return FINE
