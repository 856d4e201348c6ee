"""The groups ``dead``, ``quarantine`` and ``undecodable``: each has ``list``, ``show``, ``redrive`` and ``purge``."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from redisson_dq.cli.frame import (
    FINE,
    PROBLEM,
    BoundedNumber,
    Column,
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
from redisson_dq.cli.mending._choosing import Choice, choice_options, mended
from redisson_dq.cli.mending._doing import Deed, UndoChoice, choosing, do, undo_options

if TYPE_CHECKING:
    from redisson_dq.browsing import ValueReader
    from redisson_dq.mending import ItemRow
    from redisson_dq.wire.calls.mending import AsideAction, AsideKind

__all__ = ["aside_group"]

_F = TypeVar("_F", bound=Callable[..., Any])
_THING: dict[AsideKind, str] = {
    "dead": "dead letter",
    "quarantine": "quarantined entry",
    "undecodable": "undecodable value",
}
_THINGS: dict[AsideKind, str] = {
    "dead": "dead letters",
    "quarantine": "quarantined entries",
    "undecodable": "undecodable values",
}


def aside_group(kind: AsideKind, help: str) -> click.Group:
    """The group of one kind."""
    group = click.Group(kind, help=help)
    group.add_command(_list(kind))
    group.add_command(_show(kind))
    group.add_command(_acting(kind, "redrive", f"Give {_THINGS[kind]} of QUEUE to their queue again."))
    group.add_command(_acting(kind, "purge", f"Remove {_THINGS[kind]} of QUEUE for good."))
    return group


def _dead_letter_option(kind: AsideKind) -> Callable[[_F], _F]:
    """``--dead-letter``, which only dead letters have."""

    def decorate(function: _F) -> _F:
        if kind == "dead":
            text = "The queue that gets the dead letters, if it has no list of its own."
            return click.option("--dead-letter", metavar="NAME", help=text)(function)

        @functools.wraps(function)
        def without(*args: Any, **rest: Any) -> Any:
            return function(*args, dead_letter=None, **rest)

        return cast(_F, without)

    return decorate


def _list(kind: AsideKind) -> click.Command:
    @click.command("list", help=f"Show {_THINGS[kind]} of QUEUE, oldest first.")
    @queue_argument
    @click.option("--limit", metavar="N", type=BoundedNumber(int, 1), default=100, help="At most so many (100).")
    @_dead_letter_option(kind)
    @partitions_option
    @server_options
    @json_option
    def listing(
        queue: str, limit: int, dead_letter: str | None, partitions: int | None, server: Server, output: Output
    ) -> int:
        from redisson_dq.browsing import ValueReader
        from redisson_dq.mending import aside_rows

        reader = ValueReader()
        with server.client() as client:
            found = list(aside_rows(mended(client, queue, partitions, dead_letter), kind, limit))
        if output.as_json:
            output.document(queue=queue, state=kind, items=[_told(row, reader) for row in found])
        else:
            columns: list[Any] = ["id", "came", Column("attempts", right=True)]
            columns += [Column("reason", cut=True), Column("value", cut=True)]
            cells = [(_id(row), _at(row), row.attempts or None, row.reason, _shown(row, reader)) for row in found]
            output.table(columns, cells)
        return FINE

    return listing


def _show(kind: AsideKind) -> click.Command:
    @click.command("show", help=f"Show all about some {_THINGS[kind]} of QUEUE.")
    @queue_argument
    @click.argument("ids", metavar="ID...", nargs=-1, required=True)
    @_dead_letter_option(kind)
    @partitions_option
    @server_options
    @json_option
    def showing(
        queue: str,
        ids: tuple[str, ...],
        dead_letter: str | None,
        partitions: int | None,
        server: Server,
        output: Output,
    ) -> int:
        from redisson_dq.browsing import ValueReader
        from redisson_dq.mending import aside_rows

        wanted, reader = frozenset(ids), ValueReader()
        with server.client() as client:
            rows = aside_rows(mended(client, queue, partitions, dead_letter), kind)
            found = [row for row in rows if _has_id(row, wanted)]
        if output.as_json:
            output.document(queue=queue, state=kind, items=[_told(row, reader) for row in found])
        else:
            for row in found:
                told = {**_told(row, reader), "value": _shown(row, reader), "bytes": row.data.hex()}
                output.fields([(name, value) for name, value in told.items() if value not in (None, "")])
        known = {name for row in found for name in (row.id, row.entry_id, _id(row))}
        missing = sorted(wanted - known)
        for id in missing:
            say(f"{id}: none of the {_THINGS[kind]} of {queue} has this id", error=True)
        return PROBLEM if missing else FINE

    return showing


def _acting(kind: AsideKind, action: AsideAction, help: str) -> click.Command:
    @click.command(action, help=help)
    @queue_argument
    @choice_options
    @_dead_letter_option(kind)
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
        from redisson_dq.mending import IdProblem, mend_aside, select_aside

        with server.client() as client:
            whole = mended(client, queue, partitions, dead_letter)
            wanted, met = choice.wanted(), set[str]()

            def chosen(row: ItemRow) -> bool:
                if choice.ids:
                    met.update((row.id, row.entry_id, _id(row)))
                    return _has_id(row, frozenset(choice.ids))
                return wanted is None or wanted(row)

            with choosing(whole) as told:
                selection = select_aside(whole, kind, chosen, told=told)
            problems = [
                IdProblem(id=id, state="unknown", text=f"none of the {_THINGS[kind]} of {queue} has this id")
                for id in dict.fromkeys(choice.ids)
                if id not in met
            ]
            past = "redriven" if action == "redrive" else "purged"
            deed = Deed(verb=action, past=past, thing=_THING[kind], things=_THINGS[kind])
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
            text = "Deliver the bytes of each entry as a value at once, as it is in no known format."
            return click.option("--as-values", is_flag=True, help=text)(function)

        @functools.wraps(function)
        def without(*args: Any, **rest: Any) -> Any:
            return function(*args, as_values=False, **rest)

        return cast(_F, without)

    return decorate


def _id(row: ItemRow) -> str:
    """The id by which a row is named here. An element without one has the digest of its bytes."""
    import hashlib

    return row.id or row.entry_id or hashlib.sha256(row.data).hexdigest()[:12]


def _has_id(row: ItemRow, ids: frozenset[str]) -> bool:
    return row.has_id(ids - {""}) or _id(row) in ids


def _at(row: ItemRow) -> object:
    from redisson_dq._times import from_ms

    moment = row.at_ms if row.at_ms is not None else row.due_ms
    return None if moment is None else from_ms(moment)


def _told(row: ItemRow, reader: ValueReader) -> dict[str, Any]:
    """A row for JSON, with its value as far as its bytes tell the codec."""
    decoded = reader.read(row.data)
    return {
        "queue": row.queue,
        "id": _id(row),
        "entry_id": row.entry_id,
        "state": row.state,
        "at": _at(row),
        "attempts": row.attempts,
        "reason": row.reason,
        "codec": decoded.codec or None,
        "value": None if decoded.error else decoded.value,
        "bytes": row.data,
    }


def _shown(row: ItemRow, reader: ValueReader) -> str:
    """The value as text, or else as hex digits."""
    decoded = reader.read(row.data)
    if decoded.error:
        return row.data.hex()
    return decoded.value if isinstance(decoded.value, str) else json.dumps(decoded.value, ensure_ascii=False)
