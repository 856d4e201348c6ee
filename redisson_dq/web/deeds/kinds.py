"""The kinds of actions, and one action with its figures."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

import attrs

from redisson_dq.mending import Selection
from redisson_dq.scheduling.times import from_ms, machine_us
from redisson_dq.web.access import Right

__all__ = ["KINDS", "OF_QUEUE", "DeedKind", "WebDeed"]

#: The state of an action on the queue itself.
OF_QUEUE = "queue"


@attrs.frozen(kw_only=True)
class DeedKind:
    """A kind of action. ``states`` has the states of the items that it applies to; ``queue`` for an action on the queue
    itself.

    ``verb`` and ``past`` are its display names. ``needs`` are the fields of its form: ``when`` is a moment or a span.
    ``value`` is JSON, ``delay`` a span, ``item_id`` the id of the offer, ``class`` a Java class of a JSON object, and
    ``codec`` the name of a codec. The last four may be empty.
    """

    name: str
    right: Right
    states: tuple[str, ...]
    verb: str
    past: str
    can_undo: bool = True
    needs: tuple[str, ...] = ()


#: All kinds, by name.
KINDS: Mapping[str, DeedKind] = {
    each.name: each
    for each in (
        DeedKind(name="cancel", right="mend", states=("waiting",), verb="Cancel", past="cancelled"),
        DeedKind(
            name="reschedule",
            right="mend",
            states=("waiting",),
            verb="Reschedule",
            past="rescheduled",
            needs=("when",),
        ),
        DeedKind(name="run-now", right="mend", states=("waiting",), verb="Run now", past="made due"),
        DeedKind(
            name="redrive",
            right="mend",
            states=("dead", "quarantined", "undecodable"),
            verb="Redrive",
            past="given to the queue again",
        ),
        DeedKind(
            name="purge",
            right="purge",
            states=("dead", "quarantined", "undecodable"),
            verb="Purge",
            past="purged",
        ),
        DeedKind(name="release", right="mend", states=("in-flight",), verb="Give back", past="given back"),
        DeedKind(
            name="ack", right="purge", states=("in-flight",), verb="Acknowledge", past="acknowledged", can_undo=False
        ),
        DeedKind(
            name="offer",
            right="mend",
            states=(OF_QUEUE,),
            verb="Offer",
            past="offered",
            can_undo=False,
            needs=("value", "delay", "item_id", "class", "codec"),
        ),
        DeedKind(name="pause", right="mend", states=(OF_QUEUE,), verb="Pause", past="paused"),
        DeedKind(name="resume", right="mend", states=(OF_QUEUE,), verb="Resume", past="resumed"),
    )
}


@attrs.define(kw_only=True)
class WebDeed:
    """One action of one user."""

    id: str = attrs.field(factory=lambda: secrets.token_hex(8))
    kind: DeedKind
    queue: str
    partitions: int | None
    state: str
    user: str
    address: str
    filter: str = ""
    ids: tuple[str, ...] = ()
    when: str = ""
    value: str = attrs.field(default="", repr=False)
    delay: str = ""
    item_id: str = ""
    java_class: str = ""
    codec: str = ""
    status: str = "choosing"
    met: int = 0
    #: How many items are in its state, if all of them are examined.
    total: int = 0
    wanted: int = 0
    done: int = 0
    undone: int = 0
    left: dict[str, int] = attrs.field(factory=dict)
    problems: tuple[str, ...] = ()
    error: str = ""
    #: Why the next step waits, while Redis is away.
    away: str = ""
    at_us: int = attrs.field(factory=machine_us)
    undo_file: Path | None = None
    selection: Selection | None = None
    is_stopped: bool = False

    @property
    def at(self) -> datetime:
        """When it was requested."""
        return from_ms(self.at_us // 1000)

    @property
    def can_undo(self) -> bool:
        """Whether an undo file has it."""
        return self.undo_file is not None and self.status in ("done", "failed") and self.done > 0

    def stop(self) -> bool:
        """Whether a user has asked it to stop."""
        return self.is_stopped

    def is_away(self, error: str) -> None:
        """Records that Redis is away during the deed, or with an empty text that it is back."""
        self.away = error

    def close_selection(self) -> None:
        """Drops the selected items."""
        selection, self.selection = self.selection, None
        if selection is not None:
            selection.__exit__()
