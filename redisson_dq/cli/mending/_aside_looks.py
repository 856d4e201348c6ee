"""``list`` and ``show`` of ``dead``, ``quarantine`` and ``undecodable``, whose ids ``redrive`` and ``purge`` take."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeVar, cast

import attrs
import click

from redisson_dq._operations.shell import command_line
from redisson_dq.cli.frame import (
    FINE,
    PROBLEM,
    Column,
    Output,
    Server,
    dead_letter_option,
    json_option,
    partitions_option,
    queue_argument,
    say,
    server_options,
)
from redisson_dq.cli.looking._values import (
    PageChoice,
    ValueChoice,
    as_fields,
    in_words,
    page_options,
    short,
    value_options,
    whole,
)
from redisson_dq.cli.mending._choosing import mended

if TYPE_CHECKING:
    from redisson_dq.admin.entries import AsideKind
    from redisson_dq.browsing import DecodedValue, SeenIn, SeenItem, ValueReader
    from redisson_dq.cli.documents.mending import AsideItem, AsideListDocument, AsideShowDocument

__all__ = ["THINGS", "dead_letter_option_of", "has_name", "list_command", "name_of", "show_command"]

_F = TypeVar("_F", bound=Callable[..., Any])
#: By kind, in words.
THINGS: dict[AsideKind, str] = {
    "dead": "dead letters",
    "quarantine": "quarantined entries",
    "undecodable": "undecodable values",
}
_STATES: dict[AsideKind, SeenIn] = {"dead": "dead", "quarantine": "quarantined", "undecodable": "undecodable"}


def dead_letter_option_of(kind: AsideKind) -> Callable[[_F], _F]:
    """``--dead-letter``, which only dead letters have."""

    def decorate(function: _F) -> _F:
        if kind == "dead":
            return dead_letter_option(function)

        @functools.wraps(function)
        def without(*args: Any, **rest: Any) -> Any:
            return function(*args, dead_letter=None, **rest)

        return cast(_F, without)

    return decorate


@attrs.define
class _AsidePage:
    """The rows of one page, with their values. ``next`` is the number of elements before the next page."""

    rows: list[tuple[SeenItem, DecodedValue]]
    looked: int = 0
    next: str | None = None


def list_command(kind: AsideKind) -> click.Command:
    """The command ``list`` of one kind."""

    @click.command("list", help=f"Show {THINGS[kind]} of QUEUE, oldest first.")
    @queue_argument
    @page_options(limit=100, most=100_000)
    @value_options
    @dead_letter_option_of(kind)
    @partitions_option
    @server_options
    @json_option
    def listing(
        queue: str,
        page: PageChoice,
        values: ValueChoice,
        dead_letter: str | None,
        partitions: int | None,
        server: Server,
        output: Output,
    ) -> int:
        from redisson_dq.mending import aside_rows

        reader, before = values.reader(), _place(page.after)
        with server.client() as client:
            rows = aside_rows(mended(client, queue, partitions, dead_letter), kind)
            found = _page(rows, page, before, reader)
        if output.as_json:
            told: AsideListDocument = {
                "queue": queue,
                "state": _STATES[kind],
                "items": [_told(row, decoded) for row, decoded in found.rows],
                "looked": found.looked,
                "next": found.next,
            }
            output.document(**told)
            return FINE
        columns: list[Any] = ["id", "came", Column("attempts", right=True, spare=1)]
        columns += [Column("reason", cut=True), Column("value", cut=True)]
        cells = [
            (name_of(row), in_words(row.at or row.due, row.now), row.attempts or None, row.reason, short(decoded))
            for row, decoded in found.rows
        ]
        output.table(columns, cells)
        if page.filter is not None:
            output.text(f"{len(cells):,} found; looked at {found.looked:,}")
        if cells:
            _tell_what_helps(output, kind, queue, dead_letter, partitions)
        if found.next is not None:
            output.text(f"continue with --after {found.next}")
        return FINE

    return listing


def _tell_what_helps(
    output: Output, kind: AsideKind, queue: str, dead_letter: str | None, partitions: int | None
) -> None:
    options = [*(["--dead-letter", dead_letter] if dead_letter else [])]
    options += [*(["--partitions", str(partitions)] if partitions else [])]
    again, away = (
        command_line(f"{kind} {verb}", [queue], ["--all", *options, *consent])
        for verb, consent in (("redrive", ["--yes"]), ("purge", []))
    )
    output.command("to give them to the queue again", again)
    output.command("to remove them for good", away)


def _place(after: str | None) -> int:
    if after is None:
        return 0
    if not (after.isascii() and after.isdigit() and len(after) < 16):
        raise click.UsageError(f"--after {after}: use the number at the end of the previous page")
    return int(after)


def _page(rows: Iterable[SeenItem], page: PageChoice, before: int, reader: ValueReader) -> _AsidePage:
    found, wanted = _AsidePage([]), page.wanted()
    for row in itertools.islice(rows, before, None):
        if len(found.rows) == page.limit or (wanted is not None and found.looked == page.look):
            found.next = str(before + found.looked)
            break
        found.looked += 1
        decoded = reader.read(row.data, queue=row.queue)
        if wanted is None or wanted(row, decoded):
            found.rows.append((row, decoded))
    return found


def show_command(kind: AsideKind) -> click.Command:
    """The command ``show`` of one kind."""

    @click.command("show", help=f"Show the details of some {THINGS[kind]} of QUEUE.")
    @queue_argument
    @click.argument("ids", metavar="ID...", nargs=-1, required=True)
    @value_options
    @dead_letter_option_of(kind)
    @partitions_option
    @server_options
    @json_option
    def showing(
        queue: str,
        ids: tuple[str, ...],
        values: ValueChoice,
        dead_letter: str | None,
        partitions: int | None,
        server: Server,
        output: Output,
    ) -> int:
        from redisson_dq.mending import aside_rows

        wanted, reader = frozenset(ids), values.reader()
        with server.client() as client:
            rows = aside_rows(mended(client, queue, partitions, dead_letter), kind)
            found = [row for row in rows if has_name(row, wanted)]
        seen = [(row, reader.read(row.data, queue=row.queue)) for row in found]
        if output.as_json:
            items = [_told(row, decoded) for row, decoded in seen]
            told: AsideShowDocument = {"queue": queue, "state": _STATES[kind], "items": items}
            output.document(**told)
        else:
            for row, decoded in seen:
                shown: dict[str, object] = {**_told(row, decoded), "attempts": row.attempts or 0}
                shown |= {"value": whole(decoded), "hex": row.data.hex() if decoded.error else None}
                shown |= {"bytes": row.data.hex()}
                output.fields([(name, value) for name, value in shown.items() if value not in (None, "")])
        known = {name for row in found for name in (row.id, row.entry_id, name_of(row))}
        missing = sorted(wanted - known)
        for id in missing:
            say(f"{id}: none of the {THINGS[kind]} of {queue} has this id", error=True)
        return PROBLEM if missing else FINE

    return showing


def name_of(row: SeenItem) -> str:
    """The id of a row here. For an element without an id, the digest of its bytes."""
    import hashlib

    return row.id or row.entry_id or hashlib.sha256(row.data).hexdigest()[:12]


def has_name(row: SeenItem, ids: frozenset[str]) -> bool:
    """Whether one of these ids names the row."""
    return row.has_id(ids - {""}) or name_of(row) in ids


def _told(row: SeenItem, decoded: DecodedValue) -> AsideItem:
    """A row for JSON: the fields of ``list``, and those that identify an element of a list."""
    return {
        **as_fields(row, decoded),
        "id": name_of(row),
        "entry_id": row.entry_id or None,
        "at": row.at or row.due,
        "bytes": row.data,
    }
