"""``redisson-dq stats``: all about some queues."""

from __future__ import annotations

import click

from redisson_dq.cli.frame import (
    DATA,
    FINE,
    Output,
    Server,
    found_partitions,
    json_option,
    partitions_option,
    queues_argument,
    server_options,
)

__all__ = ["command"]


@click.command(help="Show all about QUEUEs: how much is where, what comes next, who moves it, which key is wrong.")
@queues_argument()
@partitions_option
@click.option("--dead-letter", metavar="NAME", help="The queue that gets its dead letters, unless its own list does.")
@server_options
@json_option
def command(
    queues: tuple[str, ...], partitions: int | None, dead_letter: str | None, server: Server, output: Output
) -> int:
    """Carry out ``stats``: 0, or 65 where keys of a queue hold another type."""
    with server.client() as client:
        found = [
            client.inspect(name, partitions=found_partitions(client, name, partitions), dead_letter=dead_letter)
            for name in queues
        ]
    if output.as_json:
        output.document(queues=[each.to_dict() for each in found])
    else:
        for each in found:
            output.text(str(each) if each.exists else f"{each.name}: there is nothing of it in Redis")
    return DATA if any(each.wrong_types for each in found) else FINE
