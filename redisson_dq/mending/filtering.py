"""Selects items with a text filter, as the commands that list items do."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from redisson_dq.browsing.rows import SeenItem

if TYPE_CHECKING:
    from redisson_dq.browsing import Filter, ValueReader

__all__ = ["filtered"]


def filtered(wanted: Filter, reader: ValueReader | None = None) -> Callable[[SeenItem], bool]:
    """A function for :func:`select_waiting` that is true for the items that a filter matches.

    ``reader`` decodes values if the filter uses them. By default the codec is recognised from the bytes. Example::

        select_waiting(queue, filtered(Filter("order.id = 42 and late > 5m")))
    """
    # An action without a filter needs no codecs.
    from redisson_dq.browsing import ValueReader

    values = ValueReader() if reader is None else reader

    def is_wanted(row: SeenItem) -> bool:
        return wanted(row, values.read(row.data, queue=row.queue) if wanted.needs_value else None)

    return is_wanted
