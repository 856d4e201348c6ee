"""``redisson-dq take``: takes values, and prints each before the next one is taken."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from redisson_dq._operations.shell import command_line
from redisson_dq.cli.frame import (
    DATA,
    FINE,
    PROBLEM,
    BoundedNumber,
    Output,
    Seconds,
    Server,
    found_partitions,
    json_option,
    partitions_option,
    queue_argument,
    say,
    server_options,
    show_json,
)
from redisson_dq.cli.looking._values import ValueChoice, value_options

if TYPE_CHECKING:
    from redisson_dq.browsing import DecodedValue
    from redisson_dq.cli.documents.values import TakenLine

__all__ = ["command"]


@click.command(
    help="""Take values from QUEUE, and print each as a line of JSON.

    Each value is printed before the next one is taken. If it cannot be printed, it is put back at the front of QUEUE.
    A value that the codec cannot read is printed in hex and set aside: undecodable list QUEUE shows it. Without
    --wait only ready values are taken.
    """
)
@queue_argument
@click.option("--wait", metavar="S", type=Seconds(zero=True), default=0.0, help="Wait S seconds for each value (0).")
@click.option(
    "--count", metavar="N", type=BoundedNumber(int, 1, what="a number of values"), help="At most N values (1)."
)
@click.option("--follow", is_flag=True, help="Take values until Ctrl-C, or until --count were taken.")
@value_options
@partitions_option
@server_options
@json_option
def command(
    queue: str,
    wait: float,
    count: int | None,
    follow: bool,
    values: ValueChoice,
    partitions: int | None,
    server: Server,
    output: Output,
) -> int:
    """Carry out ``take``: 0, 1 where nothing came, 65 where a value could not be read.

    With ``--json`` a line has the codec and the class, too.
    """
    from redisson_dq.codecs import ByteArrayCodec

    reader = values.reader()
    most = count if count is not None else None if follow else 1
    taken = unreadable = 0
    with server.client(codec=ByteArrayCodec()) as client:
        parts = found_partitions(client, queue, partitions, may_be_missing=True)
        handle: Any = client.blocking_queue(queue, partitions=parts)
        while most is None or taken < most:
            data = handle.take() if follow else handle.poll(timeout=wait) if wait else handle.poll()
            if data is None:
                break
            try:
                decoded = reader.read(data, queue=queue)
                _show(output, queue, data, decoded)
                kept = _set_aside(client, queue, parts, data) if decoded.error else None
            except BaseException:
                _give_back(client, queue, parts, data)
                raise
            taken += 1
            if kept is not None:
                unreadable += 1
                shows = command_line("undecodable list", [kept])
                say(f"redisson-dq take: {decoded.error}; the value was set aside: {shows}", error=True)
    if unreadable:
        return DATA
    return FINE if taken or follow else PROBLEM


def _show(output: Output, queue: str, data: bytes, decoded: DecodedValue) -> None:
    if output.as_json:
        told: TakenLine = {
            "queue": queue,
            "codec": decoded.codec or None,
            "class": decoded.java_class or None,
            "value": None if decoded.error else decoded.value,
            "hex": data if decoded.error else None,
            "error": decoded.error or None,
        }
        output.line(**told)
        return
    value = {"hex": decoded.value, "error": decoded.error} if decoded.error else decoded.value
    show_json(value)
    sys.stdout.flush()


def _set_aside(client: Any, queue: str, partitions: int | None, data: bytes) -> str:
    """Sets a value aside, as consumers do. Returns the queue that has it: for partitions, the first one."""
    from redisson_dq.admin import Admin

    part = Admin(client).parts(queue, partitions)[0]
    failure = part.set_aside(data)
    if failure is not None:
        raise failure
    return part.name


def _give_back(client: Any, queue: str, partitions: int | None, data: bytes) -> None:
    """Puts a value back at the front, or prints its bytes on standard error if that fails."""
    from redisson_dq.errors import RedissonDQError

    try:
        if partitions is None:
            client.blocking_deque(queue, transfer=False).add_first(data)
        else:
            client.blocking_queue(queue, transfer=False, partitions=partitions).add(data)
    except RedissonDQError as error:
        say(f"redisson-dq take: this value was taken, and could not be put back ({error}): {data.hex()}", error=True)
    else:
        say(f"redisson-dq take: the last value could not be printed, and was put back into {queue}", error=True)
