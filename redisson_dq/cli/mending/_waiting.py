"""The common steps of commands that act on waiting items."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
from redisson_dq.cli.mending._doing import Deed, UndoChoice, choosing, do, undo_options

if TYPE_CHECKING:
    from redisson_dq.admin.entries import WaitingAction

__all__ = ["act_on_waiting", "waiting_command"]


def waiting_command(deed: Deed, action: WaitingAction, ms: int | None, *, short_help: str, help: str) -> click.Command:
    """A command whose only input is the items. ``ms`` is None for the server's time."""

    @click.command(deed.verb, short_help=short_help, help=help)
    @queue_argument
    @choice_options
    @partitions_option
    @write_options(rate=True)
    @undo_options
    @server_options
    @json_option
    def command(queue: str, choice: Choice, partitions: int | None, server: Server, **options: Any) -> int:
        return act_on_waiting(server, queue, partitions, choice, deed, action, ms, **options)

    return command


def act_on_waiting(
    server: Server,
    name: str,
    partitions: int | None,
    choice: Choice,
    deed: Deed,
    action: WaitingAction,
    ms: int | None,
    *,
    consent: Consent,
    undo: UndoChoice,
    output: Output,
) -> int:
    """Selects waiting items and acts on them. ``ms`` is None for the server's time."""
    from redisson_dq.mending import Untouched, count_untouched, found_by_id, mend_waiting, select_waiting

    with server.client() as client:
        queue = mended(client, name, partitions)
        with choosing(queue) as told:
            if choice.ids:
                selection, problems = found_by_id(queue, choice.ids, stays=action != "cancel", told=told)
            else:
                selection, problems = select_waiting(queue, choice.wanted(), told=told), []
        # An id that was not found may belong to a torn entry.
        is_told = choice.ids and not any(each.state in ("unknown", "delivered") for each in problems)
        untouched = Untouched() if is_told else count_untouched(queue)
        with selection:
            return do(
                deed,
                selection,
                problems,
                lambda acting: mend_waiting(selection, action, queue.now_ms() if ms is None else ms, acting),
                consent=consent,
                undo=undo,
                output=output,
                untouched=untouched,
            )
