"""``redisson-dq history``: what happened to one item of a queue, or to all of them."""

from __future__ import annotations

import re
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

import click

from redisson_dq._operations.shell import command_line
from redisson_dq.cli.frame import (
    FINE,
    PROBLEM,
    SECONDS,
    BoundedNumber,
    Column,
    Output,
    Server,
    found_partitions,
    json_option,
    partitions_option,
    queue_argument,
    say,
    server_options,
)

if TYPE_CHECKING:
    from redisson_dq.cli.documents.looking import HistoryDocument
    from redisson_dq.items import ItemEvent

__all__ = ["command"]

_CLOCK = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?")
_DAY = timedelta(days=1)


class _When(click.ParamType):  # type: ignore[type-arg] # generic only in new versions
    """A time: ``10m`` (ago), ``03:00`` (the last one, UTC), ``2026-11-28T03:00:00Z``."""

    name = "a time"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        text, now = str(value).strip(), datetime.now(timezone.utc)
        clock = _CLOCK.fullmatch(text)
        if clock is not None:
            hour, minute, second = (int(part or 0) for part in clock.groups())
            today = now.replace(hour=hour, minute=minute, second=second, microsecond=0)
            return today if today <= now else today - _DAY
        try:
            found = datetime.fromisoformat(re.sub("[zZ]$", "+00:00", text))
        except ValueError:
            return now - timedelta(seconds=SECONDS.convert(value, param, ctx))
        return found if found.tzinfo is not None else found.replace(tzinfo=timezone.utc)


class _HowMuch(click.ParamType):  # type: ignore[type-arg] # generic only in new versions
    """``1000`` (items), ``6h``, or ``none``."""

    name = "how much is kept"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int | timedelta:
        text = str(value).strip()
        if text == "none":
            return 0
        if text.isascii() and text.isdigit():
            return int(BoundedNumber(int, 1, what="a number of items").convert(text, param, ctx))
        return timedelta(seconds=SECONDS.convert(text, param, ctx))


@click.command(
    help="""Show what happened to the item ID of QUEUE, or to all its items.

    A TIME is 10m (ago), 03:00 (UTC, the last one) or 2026-11-28T03:00:00Z. --keep 1000 begins a history.
    """
)
@queue_argument
@click.argument("id", metavar="[ID]", required=False)
@click.option("--since", metavar="MOMENT", type=_When(), help="Only events from this time on.")
@click.option("--until", metavar="MOMENT", type=_When(), help="Only events up to this time.")
@click.option("--what", metavar="EVENT", help="Only events of this kind, such as failed.")
@click.option(
    "--limit",
    metavar="N",
    type=BoundedNumber(int, 1, 50_000, "a number of events"),
    default=100,
    help="The last N events (100).",
)
@click.option(
    "--keep",
    metavar="N|TIME|none",
    type=_HowMuch(),
    help="Begin a history of N items, or of a time such as 6h; none ends it.",
)
@partitions_option
@server_options
@json_option
def command(
    queue: str,
    id: str | None,
    since: datetime | None,
    until: datetime | None,
    what: str | None,
    limit: int,
    keep: int | timedelta | None,
    partitions: int | None,
    server: Server,
    output: Output,
) -> int:
    """Carry out ``history``: 0, or 1 where the queue keeps none."""
    with server.client() as client:
        handle = client.delayed_queue(queue, transfer=False, partitions=found_partitions(client, queue, partitions))
        if keep is not None:
            handle.set_history(keep or None)
        events = handle.history(id, since=since, until=until, what=what, limit=limit)
        kept = handle.history_kept()
    if output.as_json:
        told: HistoryDocument = {"queue": queue, "kept_events": kept and kept[0], "events": events}
        output.document(**told)
    elif events:
        output.table(["at", Column("event"), "id", "process", Column("attempt", right=True), "more"], map(_row, events))
    elif kept is not None:
        output.text(f"nothing is known of {id}" if id is not None else "no events")
    elif keep is not None:
        output.text(f"{queue} keeps no history any more")
    if kept is None and keep is None:
        if not output.as_json:
            say(
                f"{queue} keeps no history: {command_line('history', [queue], ['--keep', '1000'])} begins one",
                error=True,
            )
        return PROBLEM
    return FINE


def _row(event: ItemEvent) -> tuple[object, ...]:
    process = f"{event.host}:{event.pid}" if event.pid is not None else event.host
    more = [] if event.due is None else [f"due {event.due.isoformat(' ', 'milliseconds')}"]
    more += [event.reason.strip().partition("\n")[0]] if event.reason else []
    more += [] if event.certain else ["of this or an equal value"]
    at = event.time.isoformat(" ", "milliseconds")
    return at, event.what, event.id, process, event.attempt or None, "; ".join(more)
