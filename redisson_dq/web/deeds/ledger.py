"""The actions of one dashboard, and their transitions between states."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from pathlib import Path

from redisson_dq import Client
from redisson_dq.errors import ArgumentError, RedissonDQError
from redisson_dq.mending import MendedQueue
from redisson_dq.scheduling.times import machine_us
from redisson_dq.web.deeds.acting import act, new_undo_file, put_back, when
from redisson_dq.web.deeds.auditing import tell_begin, tell_end
from redisson_dq.web.deeds.choosing import selected, total_of
from redisson_dq.web.deeds.kinds import OF_QUEUE, WebDeed
from redisson_dq.web.deeds.offering import check_codec, check_form, offer
from redisson_dq.web.masks import Masks

__all__ = ["MOST_DEEDS", "Deeds"]

logger = logging.getLogger("redisson_dq")
#: How many deeds are remembered.
MOST_DEEDS = 200
# How many deeds of each user may be waiting to be carried out.
_MOST_READY = 20
_READY_FOR_US = 600_000_000
_ENDED = ("done", "undone", "dropped", "failed")


class Deeds:
    """The deeds of one dashboard. Its methods access Redis, so call them in a thread."""

    def __init__(self, client: Client, masks: Masks, undo_dir: Callable[[], Path]) -> None:
        self._client, self._masks, self._undo_dir = client, masks, undo_dir
        self._deeds: dict[str, WebDeed] = {}
        self._mutex = threading.RLock()

    def all(self) -> list[WebDeed]:
        """All remembered deeds, the latest first."""
        with self._mutex:
            self._drop_old()
            return list(self._deeds.values())[::-1]

    def get(self, id: str) -> WebDeed | None:
        """One deed."""
        return self._deeds.get(id)

    def new(self, deed: WebDeed) -> None:
        """Adds a deed. Raises ArgumentError if too many wait to be carried out. It does not access Redis."""
        if deed.state not in deed.kind.states:
            raise ArgumentError(f"{deed.kind.name} is for items that are {' or '.join(deed.kind.states)}")
        if deed.filter:
            self._masks.filter_of(deed.filter)
        if deed.kind.name == "reschedule":
            when(deed)
        if deed.kind.name == "offer":
            check_form(deed)
        with self._mutex:
            self._drop_old()
            waiting = [each for each in self._deeds.values() if each.status in ("choosing", "ready")]
            # A user who abandons many deeds does not block the others.
            if sum(each.user == deed.user for each in waiting) >= _MOST_READY:
                raise ArgumentError(
                    f"{_MOST_READY} actions of yours wait to be carried out: carry some out, or drop them"
                )
            self._deeds[deed.id] = deed
            for id in [each.id for each in self._deeds.values() if each.status in _ENDED]:
                if len(self._deeds) <= MOST_DEEDS:
                    break
                del self._deeds[id]

    def close(self) -> None:
        """Ends all running deeds, and drops the others."""
        for each in self._deeds.values():
            each.is_stopped = True
            each.close_selection()

    def _drop_old(self) -> None:
        now_us = machine_us()
        for each in self._deeds.values():
            if each.status == "ready" and now_us - each.at_us > _READY_FOR_US:
                self.drop(each)

    def drop(self, deed: WebDeed) -> None:
        """Drops the items of a deed that was not carried out, and ends a running one."""
        with self._mutex:
            deed.is_stopped = True
            if deed.status in ("choosing", "ready"):
                deed.status = "dropped"
                deed.close_selection()

    # -- from one state to the next ----------------------------------------------------------------------------------

    def choose(self, deed: WebDeed) -> None:
        """Searches for the items. Never raises: the deed has the error."""
        try:
            queue = self._queue(deed)
            if deed.kind.name == "offer":
                check_codec(self._client, deed)
                deed.wanted = 1
            elif deed.state == OF_QUEUE:
                deed.wanted = len(queue.parts)
            else:
                deed.total = total_of(deed, self._client)
                deed.selection = selected(deed, queue, self._masks)
                deed.wanted, deed.met = deed.selection.count, deed.selection.met
            with self._mutex:
                if deed.status == "choosing":
                    deed.status = "ready"
                else:
                    deed.close_selection()
        except Exception as error:
            deed.status, deed.error = "failed", self._told(error)

    def begin(self, deed: WebDeed) -> bool:
        """Marks a deed as being carried out. False if it is not ready, or no longer."""
        with self._mutex:
            if deed.status != "ready":
                return False
            deed.status = "acting"
        return True

    def carry_out(self, deed: WebDeed, user: str) -> None:
        """Acts on the items, batch by batch. Never raises: the deed has the error."""
        tell_begin(deed, self._masks, user, "")
        try:
            if deed.kind.name == "offer":
                offer(self._client, deed)
            else:
                queue = self._queue(deed)
                writer = new_undo_file(deed, queue, self._undo_dir()) if deed.kind.can_undo else None
                try:
                    act(deed, queue, writer)
                finally:
                    if writer is not None:
                        writer.close()
            deed.status = "done"
        except Exception as error:
            deed.status, deed.error = "failed", self._told(error)
        finally:
            deed.away = ""
            deed.close_selection()
            tell_end(deed, self._masks, user, deed.kind.past, deed.done)

    def begin_undo(self, deed: WebDeed, user: str) -> bool:
        """Marks a deed as being undone. False if it cannot be undone, or already is."""
        with self._mutex:
            if not deed.can_undo:
                return False
            deed.status, deed.error, deed.is_stopped = "undoing", "", False
        tell_begin(deed, self._masks, user, "undo: ")
        return True

    def take_back(self, deed: WebDeed, user: str) -> None:
        """Restores the changed items. Never raises: the deed has the error."""
        try:
            put_back(deed, self._queue(deed))
            deed.status = "undone"
        except Exception as error:
            deed.status, deed.error = "failed", self._told(error)
        finally:
            deed.away = ""
            tell_end(deed, self._masks, user, "put back", deed.undone)

    def _queue(self, deed: WebDeed) -> MendedQueue:
        return MendedQueue(self._client, deed.queue, partitions=deed.partitions, away=deed.is_away)

    def _told(self, error: Exception) -> str:
        """Why a deed failed. An unexpected error ends the deed too: otherwise it would run for ever."""
        if isinstance(error, (RedissonDQError, OSError)):
            return self._masks.error(error)
        self._masks.log(logger, error, "unexpected error in an action")
        return f"an unexpected error happened, and the log of the dashboard has its details: {type(error).__name__}"
