"""``redisson-dq list``: the items of a queue in some state, page by page, decoded and filtered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import attrs
import click

from redisson_dq.cli.frame import (
    FINE,
    Column,
    Output,
    Server,
    dead_letter_option,
    found_partitions,
    json_option,
    partitions_option,
    progress,
    queue_argument,
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
)

if TYPE_CHECKING:
    from redisson_dq import Client
    from redisson_dq.browsing import DecodedValue, Filter, SeenItem, SeenOn, ValueReader
    from redisson_dq.cli.documents.looking import ListDocument

__all__ = ["command"]

_STATES = ("waiting", "parked", "ready", "in-flight", "dead", "quarantined", "undecodable", "expired", "recurring")
# How many bytes of each value are read for decoding.
_HEAD = 16_384
# How many items one call reads: about 1.5 ms in a queue with 10,000,000 entries.
_TOGETHER = 200


@attrs.define
class _Listed:
    """The rows that were found, the number of all items, and the next cursor."""

    rows: list[tuple[SeenItem, DecodedValue]]
    count: int
    looked: int
    next: str | None


@click.command(
    help="""Show items of QUEUE, decoded.

    Waiting items are in order of due time, others as in their list. An example: --filter 'order.id = 42 and late > 5m'.
    The last line names the cursor of the next page.
    """
)
@queue_argument
@click.option(
    "--state", type=click.Choice(_STATES), default="waiting", metavar="STATE", help=f"{', '.join(_STATES)} (waiting)."
)
@page_options(limit=50, most=1000)
@value_options
@partitions_option
@dead_letter_option
@server_options
@json_option
def command(
    queue: str,
    state: SeenOn,
    page: PageChoice,
    values: ValueChoice,
    partitions: int | None,
    dead_letter: str | None,
    server: Server,
    output: Output,
) -> int:
    """Carry out ``list``."""
    wanted, reader = page.wanted(), values.reader()
    with server.client() as client:
        options: dict[str, Any] = {
            "partitions": found_partitions(client, queue, partitions),
            "dead_letter": dead_letter,
            "head": _HEAD,
        }
        found = _listed(client, queue, state, wanted, reader, page, options)
    if output.as_json:
        told: ListDocument = {
            "queue": queue,
            # Parked items also wait.
            "state": "waiting" if state == "parked" else state,
            "count": found.count,
            "looked": found.looked,
            "items": [as_fields(row, decoded) for row, decoded in found.rows],
            "next": found.next,
        }
        output.document(**told)
        return FINE
    if found.rows:
        _show(output, state, found.rows)
    shown = f"{len(found.rows):,} of {found.count:,} {state}"
    output.text(shown if wanted is None else f"{shown}; looked at {found.looked:,}")
    if found.next is not None:
        output.text(f"continue with --after {found.next}")
    return FINE


def _listed(
    client: Client,
    queue: str,
    state: SeenOn,
    wanted: Filter | None,
    reader: ValueReader,
    choice: PageChoice,
    options: dict[str, Any],
) -> _Listed:
    from redisson_dq.browsing import browse

    limit, found = choice.limit, _Listed([], 0, 0, choice.after)
    with progress("looking") as told:
        while True:
            most = limit - len(found.rows) if wanted is None else min(_TOGETHER, choice.look - found.looked)
            before = found.next
            page = browse(client, queue, state, after=before, limit=most, **options)
            told.expect(page.count)
            for i, row in enumerate(page.rows):
                decoded = reader.read(row.data, is_whole=row.is_whole, queue=row.queue)
                if wanted is None or wanted(row, decoded):
                    found.rows.append((row, decoded))
                    if wanted is not None and len(found.rows) == limit and i + 1 < len(page.rows):
                        # The next page begins after this row.
                        page = browse(client, queue, state, after=before, limit=i + 1, **{**options, "head": 0})
                        break
            told.add(len(page.rows))
            found.looked += len(page.rows)
            found.count, found.next = page.count, page.next
            if page.next is None or len(found.rows) >= limit or (wanted is not None and found.looked >= choice.look):
                return found


def _show(output: Output, state: str, rows: list[tuple[SeenItem, DecodedValue]]) -> None:
    columns: dict[str, Any] = {"id": [row.id for row, _ in rows]}
    if any(row.due for row, _ in rows):
        name = "deadline" if state == "in-flight" else "due"
        columns[name] = [in_words(row.due, row.now) for row, _ in rows]
    if state == "in-flight":
        columns["since"] = [in_words(row.at, row.now) for row, _ in rows]
        if any(row.holder for row, _ in rows):
            columns["held by"] = [str(row.holder or "") for row, _ in rows]
    if state == "parked":
        columns["since"] = [in_words(row.at, row.now) for row, _ in rows]
        columns["waits for"] = [row.waits_for for row, _ in rows]
    if state == "dead":
        columns["died"] = [in_words(row.at, row.now) for row, _ in rows]
    if state == "recurring":
        columns["every"] = [row.every for row, _ in rows]
        if any(row.missed != "one" for row, _ in rows):
            columns["missed"] = [row.missed for row, _ in rows]
    if any(row.attempts for row, _ in rows):
        columns["attempts"] = [row.attempts for row, _ in rows]
    if any(row.reason for row, _ in rows):
        columns["reason"] = [row.reason for row, _ in rows]
    columns["codec"] = [f"{each.codec.replace('Codec', '') or '?'}{_mark(each)}" for _, each in rows]
    columns["value"] = [short(each) for _, each in rows]
    cut, spare = {"reason", "value"}, {"attempts": 1, "codec": 2}
    heads = [Column(name, cut=name in cut, right=name == "attempts", spare=spare.get(name, 0)) for name in columns]
    output.table(heads, list(zip(*columns.values(), strict=True)))


def _mark(decoded: DecodedValue) -> str:
    return "?" if decoded.sure == "possible" else ""
