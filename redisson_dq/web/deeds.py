"""Actions on items: chosen and counted first, then carried out, and taken back on request.

One deed goes through these states:

============  ======================================================================================================
``choosing``  a walk looks for the items; ``met`` and ``wanted`` grow
``ready``     the exact number is known, and the items are kept by their bytes; nothing was changed
``acting``    batch after batch is acted on; ``done`` grows. An item that has changed since it was chosen is left
``done``      it ended; ``can_undo`` where an undo file has it
``undoing``   the undo goes on
``undone``    the undo ended; ``undone`` of them were put back
``failed``    ``error`` says why. The part that was done can be undone
``dropped``   nobody carried it out within ten minutes, or somebody dropped it
============  ======================================================================================================
"""

from __future__ import annotations

import itertools
import json
import re
import secrets
import threading
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

import attrs

from redisson_dq._log import Log
from redisson_dq._sync.client import Client
from redisson_dq._times import from_ms, machine_us
from redisson_dq._version import __version__
from redisson_dq.browsing import Filter, SeenItem
from redisson_dq.browsing.values import make_codec
from redisson_dq.errors import ArgumentError, RedissonDQError
from redisson_dq.mending import (
    Acting,
    MendedQueue,
    Selection,
    UndoFile,
    UndoWriter,
    check_file,
    filtered,
    found_by_id,
    mend_aside,
    mend_waiting,
    pause,
    release,
    resume,
    select_aside,
    select_held,
    select_waiting,
    undo,
)
from redisson_dq.mending.making import codec_of, envelope_of, made_value
from redisson_dq.web.access import Right
from redisson_dq.web.masks import MaskedReader, Masks
from redisson_dq.web.times import moment_ms, span_ms
from redisson_dq.wire.envelope import Envelope

__all__ = ["KINDS", "WebDeed", "DeedKind", "Deeds", "audit"]

logger = Log()
#: Has a line of each action: the user, the action, how many items.
audit = Log("redisson_dq.web.audit")

# So many deeds are remembered, and so many of each user may be chosen and not carried out.
_MOST, _MOST_READY = 200, 20
_READY_FOR_US = 600_000_000
_OF_QUEUE = "queue"


@attrs.frozen(kw_only=True)
class DeedKind:
    """A kind of action. ``states`` are those of the items that it is for; ``queue`` for one on the queue itself.

    ``verb`` and ``past`` name it for people. ``needs`` are the fields of its form: ``when`` is a moment or a span.
    ``value`` is JSON, ``delay`` a span, ``item_id`` the id of the offer, and ``class`` a Java class of a JSON object.
    The last three may be empty.
    """

    name: str
    right: Right
    states: tuple[str, ...]
    verb: str
    past: str
    can_undo: bool = True
    needs: tuple[str, ...] = ()


#: All kinds, by their names.
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
        DeedKind(
            name="release", right="mend", states=("in-flight",), verb="Give back", past="given back", can_undo=False
        ),
        DeedKind(
            name="offer",
            right="mend",
            states=(_OF_QUEUE,),
            verb="Offer",
            past="offered",
            can_undo=False,
            needs=("value", "delay", "item_id", "class"),
        ),
        DeedKind(name="pause", right="mend", states=(_OF_QUEUE,), verb="Pause", past="paused"),
        DeedKind(name="resume", right="mend", states=(_OF_QUEUE,), verb="Resume", past="resumed"),
    )
}
_ASIDE: dict[str, Any] = {"dead": "dead", "quarantined": "quarantine", "undecodable": "undecodable"}


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
    status: str = "choosing"
    met: int = 0
    wanted: int = 0
    done: int = 0
    undone: int = 0
    left: dict[str, int] = attrs.field(factory=dict)
    problems: tuple[str, ...] = ()
    error: str = ""
    at_us: int = attrs.field(factory=machine_us)
    undo_file: Path | None = None
    selection: Selection | None = None
    is_stopped: bool = False

    @property
    def at(self) -> datetime:
        """When it was asked for."""
        return from_ms(self.at_us // 1000)

    @property
    def can_undo(self) -> bool:
        """Whether an undo file has it."""
        return self.undo_file is not None and self.status in ("done", "failed") and self.done > 0

    def stop(self) -> bool:
        """Whether somebody wants it to end."""
        return self.is_stopped


class Deeds:
    """The deeds of one dashboard. Its methods ask Redis and belong in a thread."""

    def __init__(self, client: Client, masks: Masks, undo_dir: Callable[[], Path]) -> None:
        self._client, self._masks, self._undo_dir = client, masks, undo_dir
        self._deeds: dict[str, WebDeed] = {}
        self._mutex = threading.Lock()

    def all(self) -> list[WebDeed]:
        """All that are remembered, the last one first."""
        with self._mutex:
            self._drop_old()
            return list(self._deeds.values())[::-1]

    def get(self, id: str) -> WebDeed | None:
        """One of them."""
        return self._deeds.get(id)

    def new(self, deed: WebDeed) -> None:
        """Remembers a deed. Raises ArgumentError where too many wait to be carried out."""
        if deed.state not in deed.kind.states:
            raise ArgumentError(f"{deed.kind.name} is for items that are {' or '.join(deed.kind.states)}")
        if deed.filter:
            Filter(deed.filter)
        if deed.kind.name == "reschedule":
            self._when(deed)
        if deed.kind.name == "offer":
            self._made(deed)
        with self._mutex:
            self._drop_old()
            waiting = [each for each in self._deeds.values() if each.status in ("choosing", "ready")]
            # A user who leaves many behind does not keep the others from acting.
            if sum(each.user == deed.user for each in waiting) >= _MOST_READY:
                raise ArgumentError(
                    f"{_MOST_READY} actions of yours wait to be carried out: carry some out, or drop them"
                )
            self._deeds[deed.id] = deed
            for id in [each.id for each in self._deeds.values() if each.status in ("done", "undone", "dropped")]:
                if len(self._deeds) <= _MOST:
                    break
                del self._deeds[id]

    def close(self) -> None:
        """Ends all that go on, and drops the others."""
        for each in self._deeds.values():
            each.is_stopped = True
            self._close_selection(each)

    def _drop_old(self) -> None:
        now_us = machine_us()
        for each in self._deeds.values():
            if each.status == "ready" and now_us - each.at_us > _READY_FOR_US:
                self.drop(each)

    def drop(self, deed: WebDeed) -> None:
        """Forgets the items of a deed that was not carried out."""
        deed.is_stopped = True
        if deed.status in ("choosing", "ready"):
            deed.status = "dropped"
            self._close_selection(deed)

    @staticmethod
    def _told(error: Exception) -> str:
        """Why a deed failed. An unexpected error ends the deed too: nobody could stop one that goes on for ever."""
        if isinstance(error, (RedissonDQError, OSError)):
            return str(error)
        logger.error("unexpected error in an action", exc_info=error)
        return f"an unexpected error happened, and the log of the dashboard has its details: {type(error).__name__}"

    @staticmethod
    def _close_selection(deed: WebDeed) -> None:
        selection, deed.selection = deed.selection, None
        if selection is not None:
            selection.__exit__()

    # -- choosing ----------------------------------------------------------------------------------------------------

    def choose(self, deed: WebDeed) -> None:
        """Looks for the items. It raises nothing: the deed has the error."""
        try:
            queue = MendedQueue(self._client, deed.queue, partitions=deed.partitions)
            if deed.kind.name == "offer":
                deed.wanted = 1
            elif deed.state == _OF_QUEUE:
                deed.wanted = len(queue.parts)
            else:
                deed.selection = self._selected(deed, queue)
                deed.wanted, deed.met = deed.selection.count, deed.selection.met
            if deed.status == "choosing":
                deed.status = "ready"
            else:
                self._close_selection(deed)
        except Exception as error:
            deed.status, deed.error = "failed", self._told(error)

    def _selected(self, deed: WebDeed, queue: MendedQueue) -> Selection:
        def told(met: int, wanted: int) -> None:
            deed.met, deed.wanted = met, wanted

        choose = _Chooser(deed, self._masks)
        if deed.state == "waiting":
            if deed.ids:
                selection, problems = found_by_id(queue, deed.ids, told=told)
                deed.problems = tuple(map(str, problems))
                return selection
            return select_waiting(queue, choose, told=told, stop=deed.stop)
        if deed.state == "in-flight":
            selection = select_held(queue, choose)
        else:
            selection = select_aside(queue, _ASIDE[deed.state], choose, told=told, stop=deed.stop)
        deed.problems = tuple(f"{id}: it is not {deed.state} any more" for id in choose.missed())
        return selection

    # -- carrying out ------------------------------------------------------------------------------------------------

    def begin(self, deed: WebDeed) -> None:
        """Notes that a deed is carried out from now on. Raises ArgumentError where it cannot be."""
        with self._mutex:
            if deed.status != "ready":
                raise ArgumentError(f"this action is {deed.status}, and is not carried out")
            deed.status = "acting"

    def carry_out(self, deed: WebDeed) -> None:
        """Acts on the items, batch by batch. It raises nothing: the deed has the error."""
        audit.info("%s begins to %s", deed.user, self._in_words(deed))
        try:
            queue = MendedQueue(self._client, deed.queue, partitions=deed.partitions)
            writer = self._writer(deed, queue)
            try:
                self._act(deed, queue, writer)
            finally:
                if writer is not None:
                    writer.close()
            deed.status = "done"
        except Exception as error:
            deed.status, deed.error = "failed", self._told(error)
        finally:
            self._close_selection(deed)
            self._tell(deed, deed.kind.past, deed.done)

    def _act(self, deed: WebDeed, queue: MendedQueue, writer: UndoWriter | None) -> None:
        if deed.kind.name == "offer":
            self._offer(deed)
            return
        if deed.state == _OF_QUEUE:
            deed.done = (pause if deed.kind.name == "pause" else resume)(queue, writer)
            return
        selection = deed.selection
        assert selection is not None

        def told(dealt: int) -> None:
            deed.done = dealt

        acting = Acting(undo=writer, told=told, stop=deed.stop)
        if deed.state == "waiting":
            action, ms = self._when(deed, queue)
            counts = mend_waiting(selection, action, ms, acting)
        elif deed.state == "in-flight":
            counts = release(selection, acting)
        else:
            counts = mend_aside(selection, "purge" if deed.kind.name == "purge" else "redrive", acting)
        deed.done, deed.left = counts.done, dict(counts.left)

    @staticmethod
    def _made(deed: WebDeed) -> tuple[Any, float]:
        """The value and the delay in seconds of an offer. Raises ArgumentError."""
        try:
            parsed = json.loads(deed.value)
        except (ValueError, RecursionError) as error:
            raise ArgumentError(f"the value is no JSON: {error}; a text stands in quotes") from None
        delay = span_ms(deed.delay) / 1000 if deed.delay else 0.0
        if delay < 0:
            raise ArgumentError("a delay is not negative")
        return made_value(parsed, deed.java_class or None), delay

    def _offer(self, deed: WebDeed) -> None:
        """Offers in the codec of the items that are there. Raises ArgumentError where the bytes do not tell it."""
        value, delay = self._made(deed)
        written = envelope_of(self._client, deed.queue, deed.partitions)
        if written == "legacy" and self._client.runtime.options.envelope is not Envelope.LEGACY:
            raise ArgumentError("the items are in the legacy envelope: offer by redisson-dq offer --envelope legacy")
        codec = make_codec(codec_of(self._client, deed.queue, deed.partitions))
        options: dict[str, Any] = {} if deed.partitions is None else {"partitions": deed.partitions}
        with self._client.delayed_queue(deed.queue, codec=codec, transfer=False, **options) as queue:
            queue.offer(value, delay, **({"id": deed.item_id} if deed.item_id else {}))
        deed.done = 1

    @staticmethod
    def _when(deed: WebDeed, queue: MendedQueue | None = None) -> tuple[Any, int]:
        """The action on waiting items, and its time in ms. Raises ArgumentError."""
        now_ms = 0 if queue is None else queue.now_ms()
        if deed.kind.name == "cancel":
            return "cancel", 0
        if deed.kind.name == "run-now":
            return "to", now_ms
        if not deed.when:
            raise ArgumentError("reschedule takes a moment such as 2026-11-25T09:00:00Z, or a span such as +5m or -5m")
        if deed.when[:1] in ("+", "-"):
            return "by", span_ms(deed.when)
        return "to", moment_ms(deed.when, now_ms)

    def _writer(self, deed: WebDeed, queue: MendedQueue) -> UndoWriter | None:
        if not deed.kind.can_undo:
            return None
        name = re.sub("[^A-Za-z0-9_.-]+", "_", deed.queue)[:60]
        path = self._undo_dir() / f"undo-{deed.kind.name}-{name}-{deed.id}.jsonl"
        writer = UndoWriter.new(path, queue, deed.kind.name, deed.at.isoformat(timespec="seconds"), __version__)
        deed.undo_file = path
        return writer

    # -- taking back -------------------------------------------------------------------------------------------------

    def begin_undo(self, deed: WebDeed, user: str) -> None:
        """Notes that a deed is taken back from now on. Raises ArgumentError where it cannot be."""
        with self._mutex:
            if not deed.can_undo:
                raise ArgumentError(f"this action is {deed.status}, and cannot be taken back")
            deed.status, deed.error, deed.is_stopped = "undoing", "", False
        audit.info("%s begins to undo: %s", user, self._in_words(deed))

    def take_back(self, deed: WebDeed, user: str) -> None:
        """Puts back the items that were changed. It raises nothing: the deed has the error."""
        assert deed.undo_file is not None
        try:
            found = UndoFile.read(deed.undo_file)
            queue = MendedQueue(self._client, deed.queue, partitions=deed.partitions)
            check_file(queue, found)
            result = undo(queue, found, stop=deed.stop)
            deed.undone, deed.left = result.done + result.before, dict(result.left)
            deed.status = "undone"
        except Exception as error:
            deed.status, deed.error = "failed", self._told(error)
        finally:
            self._tell(attrs.evolve(deed, user=user), "put back", deed.undone)

    # -- the log of actions ------------------------------------------------------------------------------------------

    def _in_words(self, deed: WebDeed) -> str:
        which = f"by filter {self._masks.filter(deed.filter)!r}" if deed.filter else "by ids" if deed.ids else "all"
        when = f" to {deed.when!r}" if deed.when else ""
        thing = f"{deed.wanted} {deed.state} items {which}"
        if deed.state == _OF_QUEUE:
            thing = "one value" if deed.kind.name == "offer" else "the queue"
        return f"{deed.kind.name}{when} {thing} of {deed.queue!r}, action {deed.id}, from {deed.address}"

    def _tell(self, deed: WebDeed, past: str, count: int) -> None:
        audit.info(
            "%s: %s %d of %d: %s%s", deed.user, past, count, deed.wanted, self._in_words(deed),
            f": failed: {deed.error}" if deed.error else "",
        )  # fmt: skip


class _Chooser:
    """Says of each item whether a deed is for it."""

    def __init__(self, deed: WebDeed, masks: Masks) -> None:
        self._deed, self._masks = deed, masks
        self._reader = masks.reader()
        self._is_wanted = filtered(Filter(deed.filter), self._reader) if deed.filter else None
        self._ids, self._met = frozenset(deed.ids), set[str]()
        self._places: dict[str, Any] = {}

    def __call__(self, row: SeenItem) -> bool:
        place = f"{row.state}@{next(self._places.setdefault(row.queue, itertools.count()))}"
        if self._ids:
            named = {row.id, row.entry_id, place} & self._ids
            self._met |= named
            return bool(named)
        if self._is_wanted is None:
            return True
        if row.reason and isinstance(self._reader, MaskedReader):
            self._reader.read(row.data)
            row = attrs.evolve(row, reason=self._masks.reason(row.reason, self._reader.hidden))
        return self._is_wanted(row)

    def missed(self) -> list[str]:
        """The ids that no item has."""
        return [id for id in dict.fromkeys(self._deed.ids) if id not in self._met]
