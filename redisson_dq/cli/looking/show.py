"""``redisson-dq show``: one item with its whole value."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from redisson_dq._operations.shell import command_line
from redisson_dq.cli.frame import (
    FINE,
    PROBLEM,
    Output,
    Server,
    dead_letter_option,
    found_partitions,
    json_option,
    partitions_option,
    progress,
    queue_argument,
    say,
    server_options,
)
from redisson_dq.cli.looking._values import (
    ValueChoice,
    as_fields,
    in_words,
    value_options,
)

if TYPE_CHECKING:
    from redisson_dq.cli.documents.looking import ShowDocument

__all__ = ["command"]

# A value is read up to this size.
_MOST_BYTES = 16 << 20


@click.command(
    help="""Show one item of QUEUE with its whole value, wherever it is.

    ID is an id that list shows, or the id of the offer.
    """
)
@queue_argument
@click.argument("id", metavar="ID")
@value_options
@partitions_option
@dead_letter_option
@server_options
@json_option
def command(
    queue: str,
    id: str,
    values: ValueChoice,
    partitions: int | None,
    dead_letter: str | None,
    server: Server,
    output: Output,
) -> int:
    """Carry out ``show``: 0, or 1 where there is no such item."""
    from redisson_dq.browsing import find_row, recognise

    reader = values.reader()
    with server.client() as client:
        count = found_partitions(client, queue, partitions)
        with progress("looking") as shown:
            before = 0

            def told(looked: int, total: int) -> None:
                nonlocal before
                shown.expect(total)
                shown.add(looked - before)
                before = looked

            row = find_row(client, queue, id, partitions=count, dead_letter=dead_letter, head=_MOST_BYTES, told=told)
    if row is None:
        if output.as_json:
            nothing: ShowDocument = {"item": None, "candidates": []}
            output.document(**nothing)
        else:
            say(f"{queue} has no item {id}: {command_line('list', [queue])} lists the items it has", error=True)
        return PROBLEM
    decoded = reader.read(row.data, is_whole=row.is_whole, queue=row.queue)
    candidates = recognise(row.data, is_whole=row.is_whole)
    if output.as_json:
        found: ShowDocument = {"item": as_fields(row, decoded), "candidates": candidates}
        output.document(**found)
        return FINE
    due = "deadline" if row.state == "in-flight" else "due"
    pairs: list[tuple[str, object]] = [
        ("queue", row.queue),
        ("state", row.state),
        ("id", row.id),
        (due, None if row.due is None else f"{row.due.isoformat(' ', 'milliseconds')}, {in_words(row.due, row.now)}"),
        ("since" if row.state == "in-flight" else "at", row.at),
        ("held by", row.holder),
        ("attempts", row.attempts),
        ("reason", row.reason),
        ("cursor", None if row.cursor is None else json.dumps(row.cursor, ensure_ascii=False)),
        ("source", row.source),
        ("every", row.every),
        ("missed", row.missed),
        ("envelope", row.envelope),
        ("size", f"{row.size:,} bytes"),
        ("codec", f"{decoded.codec or 'unknown'}{f' ({decoded.sure})' if decoded.sure else ''}"),
        ("class", decoded.java_class),
        ("error", decoded.error),
    ]
    output.fields([(name, value) for name, value in pairs if value not in (None, "")])
    others = [f"{each.codec} ({each.sure}: {each.why})" for each in candidates if each.codec != decoded.codec]
    if decoded.error and others:
        output.text(f"may also be {', '.join(others)}")
    output.tree("hex" if decoded.error else "value", decoded.value)
    return FINE
