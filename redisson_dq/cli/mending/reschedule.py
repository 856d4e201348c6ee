"""``redisson-dq reschedule``: gives waiting items another due time."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

import click

from redisson_dq.cli.frame import (
    SECONDS,
    Consent,
    Output,
    Server,
    json_option,
    partitions_option,
    queue_argument,
    server_options,
    write_options,
)
from redisson_dq.cli.mending._choosing import Choice, choice_options
from redisson_dq.cli.mending._doing import Deed, UndoChoice, undo_options
from redisson_dq.cli.mending._waiting import act_on_waiting

__all__ = ["command"]


class _Moment(click.ParamType):  # type: ignore[type-arg] # generic only in new versions
    """A moment with its time zone. Gives epoch ms."""

    name = "a moment"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        text = str(value)
        try:
            moment = datetime.fromisoformat(text[:-1] + "+00:00" if text.endswith("Z") else text)
        except ValueError:
            self.fail(f"a moment such as 2026-11-25T09:00:00+01:00 or 2026-11-25T08:00:00Z, not {text!r}", param, ctx)
        if moment.tzinfo is None:
            self.fail(f"{text!r} has no time zone: append Z for UTC, or +01:00", param, ctx)
        return round(moment.timestamp() * 1000)


class _Span(click.ParamType):  # type: ignore[type-arg] # generic only in new versions
    """A time that may begin with a minus. Gives ms."""

    name = "a time"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        text = str(value)
        seconds = SECONDS.convert(text.removeprefix("-"), param, ctx)
        return round(seconds * 1000) * (-1 if text.startswith("-") else 1)


@click.command(short_help="Give waiting items another due time.")
@queue_argument
@choice_options
@click.option("--to", metavar="MOMENT", type=_Moment(), help="The new due time, such as 2026-11-25T09:00:00+01:00.")
@click.option("--by", metavar="SPAN", type=_Span(), help="Later by this much: 90, 5m, 2h, 1d; -5m is earlier.")
@partitions_option
@write_options(rate=True)
@undo_options
@server_options
@json_option
def command(
    queue: str,
    choice: Choice,
    to: int | None,
    by: int | None,
    partitions: int | None,
    consent: Consent,
    undo: UndoChoice,
    server: Server,
    output: Output,
) -> int:
    """Give waiting items of QUEUE another due time: --to a moment, or --by a span later than their own."""
    if (to is None) == (by is None):
        raise click.UsageError("give --to or --by")
    deed = Deed(verb="reschedule", past="rescheduled")
    action: Literal["to", "by"] = "to" if by is None else "by"
    ms = to if by is None else by
    return act_on_waiting(
        server, queue, partitions, choice, deed, action, ms, consent=consent, undo=undo, output=output
    )
