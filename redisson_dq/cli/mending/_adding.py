"""``undecodable add``: sets ready values aside that no consumer can read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from redisson_dq.cli.frame import (
    BoundedNumber,
    Consent,
    Output,
    Server,
    json_option,
    partitions_option,
    queue_argument,
    say,
    server_options,
    write_options,
)
from redisson_dq.cli.looking._values import short
from redisson_dq.cli.mending._choosing import Choice, choice_options, mended
from redisson_dq.cli.mending._doing import Deed, UndoChoice, choosing, do, undo_options

if TYPE_CHECKING:
    from redisson_dq.browsing import SeenItem

__all__ = ["add_command"]

# How many ready values are read, and how many of the selected ones are shown.
_LOOKED, _MOST_LOOKED, _SHOWN = 10_000, 100_000, 5

_DEED = Deed(verb="set aside", past="set aside", thing="ready value", things="ready values")


@click.command(
    "add",
    help=f"""Set ready values of QUEUE aside, such as a value at the head that consumers fail on.

    ID is a place as `redisson-dq list QUEUE --state ready` shows it: ready@0 is the head. Places change while consumers
    take values, so the values are shown before anything is done. --filter and --all look at the first {_LOOKED}.
    `undecodable redrive` gives the values back to the queue, and undo puts them back at the head.
    """,
    short_help="Set ready values of QUEUE aside.",
)
@queue_argument
@choice_options
@click.option(
    "--look",
    metavar="N",
    type=BoundedNumber(int, 1, _MOST_LOOKED, "a number of values"),
    default=_LOOKED,
    help=f"Look at N ready values ({_LOOKED}).",
)
@partitions_option
@write_options(rate=True)
@undo_options
@server_options
@json_option
def add_command(
    queue: str,
    choice: Choice,
    look: int,
    partitions: int | None,
    consent: Consent,
    undo: UndoChoice,
    server: Server,
    output: Output,
) -> int:
    """Selects ready values, shows the first ones, asks, and sets them aside."""
    from redisson_dq.mending import mend_aside, select_ready

    with server.client() as client:
        whole = mended(client, queue, partitions)
        if choice.ids and len(whole.parts) > 1:
            raise click.UsageError(f"{choice.ids[0]} is a place in one list: name the partition as the queue")
        wanted, met = choice.wanted(), set[str]()
        first: list[SeenItem] = []

        def chosen(row: SeenItem) -> bool:
            met.add(row.id)
            if not (row.id in choice.ids if choice.ids else wanted is None or wanted(row)):
                return False
            if len(first) < _SHOWN:
                first.append(row)
            return True

        with choosing(whole) as told:
            selection = select_ready(whole, chosen, most=look, told=told)
        problems = choice.unknown(met, f"none of the first {look:,} ready values of {queue} has this place")
        with selection:
            reader = choice.values.reader()
            for row in first:
                say(f"{row.queue} {row.id}: {short(reader.read(row.data, queue=row.queue))}", error=True)
            return do(
                _DEED,
                selection,
                problems,
                lambda acting: mend_aside(selection, "add", acting),
                consent=consent,
                undo=undo,
                output=output,
            )
