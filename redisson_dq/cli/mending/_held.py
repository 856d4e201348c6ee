"""The common steps of commands that act on values that receivers hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from redisson_dq._operations.shell import command_line
from redisson_dq.cli.frame import Consent, Output, Server, say
from redisson_dq.cli.mending._choosing import Choice, mended
from redisson_dq.cli.mending._doing import Deed, UndoChoice, do

if TYPE_CHECKING:
    from collections.abc import Callable

    from redisson_dq.browsing import SeenItem
    from redisson_dq.mending import Acting, MendCounts, Selection

__all__ = ["act_on_held"]


def act_on_held(
    server: Server,
    name: str,
    partitions: int | None,
    choice: Choice,
    verb: str,
    past: str,
    act: Callable[[Selection, Acting], MendCounts],
    *,
    consent: Consent,
    undo: UndoChoice,
    output: Output,
) -> int:
    """Selects values that receivers hold, and acts on them."""
    from redisson_dq.mending import count_over, select_held

    with server.client() as client:
        whole = mended(client, name, partitions)
        wanted, ids, met = choice.wanted(), frozenset(choice.ids), set[str]()

        def chosen(row: SeenItem) -> bool:
            met.update((row.id, row.entry_id))
            return row.has_id(ids) if ids else wanted is None or wanted(row)

        with select_held(whole, chosen) as selection:
            problems = choice.unknown(met, "no receiver holds a value with this id")
            over = count_over(whole)
            if over:
                are = "1 lease is" if over == 1 else f"{over:,} leases are"
                say(f"{are} over and held by nobody: {command_line('move', [name])} makes the values ready", error=True)
            return do(
                Deed(verb=verb, past=past, thing="held value", things="held values"),
                selection,
                problems,
                lambda acting: act(selection, acting),
                consent=consent,
                undo=undo,
                output=output,
            )
