"""``redisson-dq move``: transfers due items without consuming, once or alongside the services that own the queues."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from redisson_dq.cli.frame import (
    FINE,
    PORT,
    PROBLEM,
    Output,
    Server,
    allow_host_option,
    code_of,
    interruptible_sleep,
    json_option,
    partitions_option,
    queues_argument,
    say,
    server_options,
    tell_part_of_cluster,
)

if TYPE_CHECKING:
    from redisson_dq.cli.documents.moving import FollowLine, MoveDocument
    from redisson_dq.cli.serving import Port
    from redisson_dq.sidecar import Sidecar

__all__ = ["command"]

# The interval of searches for new queues, in seconds.
_LOOK_EVERY = 60.0


@click.command(
    help="""Move due items to the ready lists, and consume nothing.

    QUEUE is a name, or a pattern such as 'orders*'. Queues that only Redisson uses, of any version, are moved too.
    With --follow it runs until SIGTERM, and looks for new queues once a minute.
    """
)
@queues_argument()
@partitions_option
@server_options
@click.option("--follow", is_flag=True, help="Keep running, and move items as they fall due.")
@click.option(
    "--health-port", metavar="P", type=PORT, help="With --follow: serve /live, /ready and /health on this port."
)
@click.option("--health-host", metavar="HOST", default="127.0.0.1", help="Listen on this address (127.0.0.1).")
@allow_host_option
@json_option
def command(
    queues: tuple[str, ...],
    partitions: int | None,
    server: Server,
    follow: bool,
    health_port: int | None,
    health_host: str,
    hosts: tuple[str, ...],
    output: Output,
) -> int:
    """Moves; 1 when due items are left, or a queue cannot be moved. Where all are refused, the code of the refusal."""
    if health_port is not None and not follow:
        raise click.UsageError("--health-port goes with --follow")
    if follow:
        return _follow(queues, partitions, server, (health_host, health_port, hosts), output)
    from redisson_dq.sidecar import move_due

    with server.client() as client:
        tell_part_of_cluster(client)
        rows = move_due(client, queues, partitions)
    if output.as_json:
        told: MoveDocument = {
            "queues": [{"queue": row.name, "moved": row.moved, "left": row.left, "reason": row.reason} for row in rows]
        }
        output.document(**told)
    elif not rows:
        output.text(f"no queue matches {', '.join(map(repr, queues))}")
    else:
        output.table(["queue", "moved", "left", "why"], [(row.name, row.moved, row.left, row.reason) for row in rows])
    refusals = [row.error for row in rows if row.error is not None]
    if refusals and len(refusals) == len(rows):
        return code_of(refusals[0])
    return PROBLEM if any(row.left or row.reason for row in rows) else FINE


def _follow(
    queues: tuple[str, ...],
    partitions: int | None,
    server: Server,
    port: tuple[str, int | None, tuple[str, ...]],
    output: Output,
) -> int:
    from redisson_dq.cli.worker.logs import set_up
    from redisson_dq.sidecar import Sidecar

    set_up("INFO")
    # A Redis that is away now may come back later.
    with interruptible_sleep() as sleep, server.client() as client:
        sidecar, health = Sidecar(client, queues, partitions), None
        try:
            host, number, hosts = port
            if number is not None:
                health = _health_port(sidecar, host, number, hosts)
                _tell(output, {"moving": None, "health_port": health.number}, f"health at port {health.number}")
            tell_part_of_cluster(client, may_be_away=True)
            while True:
                for name in sidecar.look():
                    _tell(output, {"moving": name, "health_port": None}, f"moving {name}")
                sleep(_LOOK_EVERY)
        except KeyboardInterrupt:
            # Also for SIGTERM, which stops services.
            return FINE
        finally:
            if health is not None:
                health.close()


def _tell(output: Output, line: FollowLine, text: str) -> None:
    if output.as_json:
        output.line(**line)
    else:
        say(text)


def _health_port(sidecar: Sidecar, host: str, port: int, hosts: tuple[str, ...]) -> Port:
    import asyncio
    import json
    from collections.abc import Mapping
    from http import HTTPStatus

    from redisson_dq.cli.serving import HttpAnswer, Port

    async def live(headers: Mapping[str, str]) -> HttpAnswer:
        return HttpAnswer(HTTPStatus.OK, b"{}\n")

    async def ready(headers: Mapping[str, str]) -> HttpAnswer:
        # Concurrent callers share one request.
        found = await asyncio.to_thread(sidecar.health)
        status = HTTPStatus.OK if found.is_well else HTTPStatus.SERVICE_UNAVAILABLE
        return HttpAnswer(status, json.dumps(found.to_dict()).encode() + b"\n")

    return Port("health", host, port, {"/live": live, "/ready": ready, "/health": ready}, hosts)
