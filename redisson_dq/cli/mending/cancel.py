"""``redisson-dq cancel``: takes waiting items out for good."""

from __future__ import annotations

from redisson_dq.cli.mending._doing import Deed
from redisson_dq.cli.mending._waiting import waiting_command

__all__ = ["command"]

command = waiting_command(
    Deed(verb="cancel", past="cancelled"),
    "cancel",
    0,
    short_help="Cancel waiting items.",
    help="""Cancel waiting items of QUEUE: they are never delivered.

    ID is the id of an offer, given or generated, or the hex id of an entry, as `redisson-dq list` shows it.
    """,
)
