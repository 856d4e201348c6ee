"""``redisson-dq stats``: all about some queues."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import click

from redisson_dq._operations.shell import safe
from redisson_dq.cli.frame import (
    DATA,
    FINE,
    Output,
    Server,
    code_of,
    dead_letter_option,
    fields_of,
    found_partitions,
    json_option,
    partitions_option,
    queues_argument,
    server_options,
    tell_part_of_cluster,
)
from redisson_dq.errors import RedisConnectionError, RedissonDQError

if TYPE_CHECKING:
    from redisson_dq.cli.documents.looking import StatsDocument
    from redisson_dq.inspection import QueueInspection

__all__ = ["command"]


@click.command(help="Show the state of QUEUEs: counts, next due times, movers, keys of a wrong type.")
@queues_argument()
@partitions_option
@dead_letter_option
@server_options
@json_option
def command(
    queues: tuple[str, ...], partitions: int | None, dead_letter: str | None, server: Server, output: Output
) -> int:
    """Carry out ``stats``: 0, or the code of the first queue that cannot be used: 65 where a key has another type."""
    found: list[QueueInspection | _RefusedQueue] = []
    with server.client() as client:
        tell_part_of_cluster(client)
        for name in queues:
            try:
                parts = found_partitions(client, name, partitions, may_be_missing=True)
                found.append(client.inspect(name, partitions=parts, dead_letter=dead_letter))
            except RedissonDQError as error:
                # On a cluster, other nodes may still answer.
                from redisson_dq.admin import Admin

                is_away = isinstance(error, RedisConnectionError) and not Admin(client).is_cluster
                if len(queues) == 1 or is_away:
                    raise
                found.append(_RefusedQueue(name, error))
    if output.as_json:
        told: StatsDocument = {
            "queues": [
                {"name": each.name, "error": each.error}
                if isinstance(each, _RefusedQueue)
                else fields_of(each, "error")
                for each in found
            ]
        }
        output.document(**told)
    else:
        for each in found:
            if each.exists:
                output.lines(str(attrs.evolve(each, name=safe(each.name))))
            else:
                output.text(f"{each.name}: it has no keys in Redis")
    return next((code for each in found if (code := _exit_code(each)) != FINE), FINE)


@attrs.frozen
class _RefusedQueue:
    """A queue that could not be read, although others may be readable."""

    name: str
    failure: RedissonDQError
    exists = True

    @property
    def error(self) -> str:
        return str(self.failure)

    def __str__(self) -> str:
        return f"{self.name}: {self.error}"


def _exit_code(found: QueueInspection | _RefusedQueue) -> int:
    if isinstance(found, _RefusedQueue):
        return code_of(found.failure)
    return DATA if found.wrong_types else FINE
