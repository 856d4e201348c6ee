"""``redisson-dq release``: gives values back that receivers hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from redisson_dq.cli.frame import (
    Consent,
    Output,
    Server,
    json_option,
    partitions_option,
    queue_argument,
    server_options,
    write_options,
)
from redisson_dq.cli.mending._choosing import Choice, choice_options, mended
from redisson_dq.cli.mending._doing import Deed, UndoChoice, do

if TYPE_CHECKING:
    from redisson_dq.browsing import SeenItem

__all__ = ["command"]


@click.command(short_help="Give values back that receivers hold.")
@queue_argument
@choice_options
@partitions_option
@write_options(rate=True)
@server_options
@json_option
def command(
    queue: str, choice: Choice, partitions: int | None, consent: Consent, server: Server, output: Output
) -> int:
    """Give values of QUEUE back that receivers hold, of a process that is gone or stands still.

    ID is the id of an offer, or the hex id of a lease, as `redisson-dq list QUEUE --state in-flight` shows it.
    """
    from redisson_dq.mending import IdProblem, release, select_held

    with server.client() as client:
        whole = mended(client, queue, partitions)
        wanted, ids, met = choice.wanted(), frozenset(choice.ids), set[str]()

        def chosen(row: SeenItem) -> bool:
            met.update((row.id, row.entry_id))
            return row.has_id(ids) if ids else wanted is None or wanted(row)

        with select_held(whole, chosen) as selection:
            problems = [
                IdProblem(id=id, state="unknown", text="no receiver holds a value with this id")
                for id in dict.fromkeys(choice.ids)
                if id not in met
            ]
            return do(
                Deed(verb="release", past="released", thing="held value", things="held values"),
                selection,
                problems,
                lambda acting: release(selection, acting),
                consent=consent,
                undo=UndoChoice(path=None, wanted=False),
                output=output,
            )
