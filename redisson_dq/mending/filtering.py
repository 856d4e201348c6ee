"""Chooses items by a filter in words, as the commands that look do."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from redisson_dq._times import from_ms, from_optional_ms
from redisson_dq.browsing.rows import SeenIn, SeenItem
from redisson_dq.mending.rows import ItemRow

if TYPE_CHECKING:
    from redisson_dq.browsing import Filter, ValueReader

__all__ = ["filtered"]

_STATES: dict[str, SeenIn] = {
    "in-flight": "in-flight",
    "dead": "dead",
    "quarantined": "quarantined",
    "undecodable": "undecodable",
}


def filtered(wanted: Filter, reader: ValueReader | None = None) -> Callable[[ItemRow], bool]:
    """A function for :func:`select_waiting` that is true for the items that a filter picks.

    ``reader`` decodes values, where the filter asks for them; else their bytes tell the codec. Example::

        select_waiting(queue, filtered(Filter("order.id = 42 and late > 5m")))
    """
    # An action without a filter has no use for codecs.
    from redisson_dq.browsing import ValueReader

    values = ValueReader() if reader is None else reader

    def is_wanted(row: ItemRow) -> bool:
        return wanted(_seen(row), values.read(row.data) if wanted.needs_value else None)

    return is_wanted


def _seen(row: ItemRow) -> SeenItem:
    return SeenItem(
        queue=row.queue,
        # A retried or parked item waits.
        state=_STATES.get(row.state, "waiting"),
        id=row.id,
        now=from_ms(row.now_ms),
        size=len(row.data),
        data=row.data,
        due=from_optional_ms(row.due_ms),
        at=from_optional_ms(row.at_ms),
        attempts=row.attempts,
        reason=row.reason,
    )
