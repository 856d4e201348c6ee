"""The groups ``dead``, ``quarantine`` and ``undecodable``: each has ``list``, ``show``, ``redrive`` and ``purge``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

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
from redisson_dq.cli.mending._aside_looks import (
    THINGS,
    dead_letter_option_of,
    has_name,
    list_command,
    name_of,
    show_command,
)
from redisson_dq.cli.mending._choosing import Choice, choice_options, mended
from redisson_dq.cli.mending._doing import Deed, UndoChoice, choosing, do, undo_options

if TYPE_CHECKING:
    from redisson_dq.admin.entries import AsideAction, AsideKind
    from redisson_dq.browsing import SeenItem

__all__ = ["aside_group"]

_F = TypeVar("_F", bound=Callable[..., Any])
_THING: dict[AsideKind, str] = {
    "dead": "dead letter",
    "quarantine": "quarantined entry",
    "undecodable": "undecodable value",
}


def aside_group(kind: AsideKind, help: str) -> click.Group:
    """The group of one kind."""
    group = click.Group(kind, help=help)
    group.add_command(list_command(kind))
    group.add_command(show_command(kind))
    group.add_command(_acting(kind, "redrive", f"Give {THINGS[kind]} of QUEUE back to their queue."))
    group.add_command(_acting(kind, "purge", f"Remove {THINGS[kind]} of QUEUE for good."))
    return group


def _acting(kind: AsideKind, action: AsideAction, help: str) -> click.Command:
    @click.command(action, help=help)
    @queue_argument
    @choice_options
    @dead_letter_option_of(kind)
    @_as_values_option(kind, action)
    @partitions_option
    @write_options(rate=True)
    @undo_options
    @server_options
    @json_option
    def acting(
        queue: str,
        choice: Choice,
        dead_letter: str | None,
        as_values: bool,
        partitions: int | None,
        consent: Consent,
        undo: UndoChoice,
        server: Server,
        output: Output,
    ) -> int:
        from redisson_dq.mending import mend_aside, select_aside

        with server.client() as client:
            whole = mended(client, queue, partitions, dead_letter)
            wanted, met = choice.wanted(), set[str]()

            def chosen(row: SeenItem) -> bool:
                if choice.ids:
                    met.update((row.id, row.entry_id, name_of(row)))
                    return has_name(row, frozenset(choice.ids))
                return wanted is None or wanted(row)

            with choosing(whole) as told:
                selection = select_aside(whole, kind, chosen, told=told)
            problems = choice.unknown(met, f"none of the {THINGS[kind]} of {queue} has this id")
            past = "redriven" if action == "redrive" else "purged"
            deed = Deed(verb=action, past=past, thing=_THING[kind], things=THINGS[kind])
            with selection:
                return do(
                    deed,
                    selection,
                    problems,
                    lambda acting: mend_aside(selection, "values" if as_values else action, acting),
                    consent=consent,
                    undo=undo,
                    output=output,
                )

    return acting


def _as_values_option(kind: AsideKind, action: AsideAction) -> Callable[[_F], _F]:
    def decorate(function: _F) -> _F:
        if kind == "quarantine" and action == "redrive":
            text = "Deliver the bytes of each entry as a value at once, because its format is unknown."
            return click.option("--as-values", is_flag=True, help=text)(function)

        @functools.wraps(function)
        def without(*args: Any, **rest: Any) -> Any:
            return function(*args, as_values=False, **rest)

        return cast(_F, without)

    return decorate
