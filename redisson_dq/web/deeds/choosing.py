"""Finds the items of an action, and counts them."""

from __future__ import annotations

import itertools
from typing import Any

from redisson_dq import Client
from redisson_dq.browsing import SeenItem
from redisson_dq.errors import RedissonDQError
from redisson_dq.mending import (
    MendedQueue,
    Selection,
    found_by_id,
    select_aside,
    select_held,
    select_waiting,
)
from redisson_dq.web.deeds.kinds import WebDeed
from redisson_dq.web.masks import Masks

__all__ = ["selected", "total_of"]

_ASIDE: dict[str, Any] = {"dead": "dead", "quarantined": "quarantine", "undecodable": "undecodable"}


def total_of(deed: WebDeed, client: Client) -> int:
    """How many items a search examines: all items in the state. 0 if ids name them, or if Redis does not answer."""
    if deed.ids:
        return 0
    try:
        stats = client.stats(deed.queue, partitions=deed.partitions)[deed.queue]
    except RedissonDQError:
        # The search itself retries for longer.
        return 0
    return int(getattr(stats, deed.state.replace("-", "_")))


def selected(deed: WebDeed, queue: MendedQueue, masks: Masks) -> Selection:
    """The items of a deed. The deed has the progress of the walk.

    Raises RedisConnectionError, RedisReplyError, WrongTypeError.
    """

    def told(met: int, wanted: int) -> None:
        deed.met, deed.wanted = met, wanted

    choose = _Chooser(deed, masks)
    if deed.state == "waiting":
        if deed.ids:
            selection, problems = found_by_id(
                queue, deed.ids, stays=deed.kind.name != "cancel", told=told, stop=deed.stop
            )
            deed.problems = tuple(map(str, problems))
            return selection
        return select_waiting(queue, choose, told=told, stop=deed.stop)
    if deed.state == "in-flight":
        selection = select_held(queue, choose)
    else:
        selection = select_aside(queue, _ASIDE[deed.state], choose, told=told, stop=deed.stop)
    deed.problems = tuple(f"{id}: it is not {deed.state} any more" for id in choose.missed())
    return selection


class _Chooser:
    """Decides whether a deed applies to an item."""

    def __init__(self, deed: WebDeed, masks: Masks) -> None:
        self._deed, self._masks = deed, masks
        self._reader = masks.reader()
        self._wanted = masks.filter_of(deed.filter) if deed.filter else None
        self._ids, self._met = frozenset(deed.ids), set[str]()
        self._places: dict[str, Any] = {}

    def __call__(self, row: SeenItem) -> bool:
        place = f"{row.state}@{next(self._places.setdefault(row.queue, itertools.count()))}"
        if self._ids:
            named = {row.id, row.entry_id, place} & self._ids
            self._met |= named
            return bool(named)
        return self._wanted is None or self._wanted(*self._masks.seen(row, self._reader))

    def missed(self) -> list[str]:
        """The ids for which there is no item."""
        return [id for id in dict.fromkeys(self._deed.ids) if id not in self._met]
