"""The items that an action applies to: counted and kept in a temporary file before anything is changed."""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Callable, Iterator
from typing import IO, Literal, TypeVar, Union

import attrs

from redisson_dq.admin import AdminQueue
from redisson_dq.admin.entries import Aside, AsideKind, Met
from redisson_dq.browsing.rows import SeenItem
from redisson_dq.mending.entries import entry_from, entry_line
from redisson_dq.mending.queue import MendedQueue
from redisson_dq.mending.walking import all_aside, all_ready, all_waiting

__all__ = ["MendBatch", "Chosen", "Selection", "SelectionKind", "select_aside", "select_ready", "select_waiting"]

SelectionKind = Literal["waiting", "in-flight", "dead", "quarantine", "undecodable"]
#: An entry of the waiting side, or an element of a list.
Chosen = Union[Met, Aside]
_C = TypeVar("_C", Met, Aside)

# One script call acts on at most this many entries, and on this many bytes after the first entry.
_BATCH, _BATCH_BYTES = 250, 1_000_000
# How many bytes of a selection are kept in memory.
_IN_MEMORY = 16_000_000
# How many elements LREM skips in 5 ms.
_PASSED = 300_000


@attrs.frozen(kw_only=True)
class MendBatch:
    """Entries of one part, changed by one script call."""

    part: AdminQueue
    chosen: tuple[Chosen, ...]


class Selection:
    """The selected items, each by its bytes. Close it after use, as it is backed by a temporary file.

    ``met`` is how many items were examined, ``count`` how many were selected.
    """

    def __init__(self, queue: MendedQueue, kind: SelectionKind) -> None:
        self.queue = queue
        self.kind: SelectionKind = kind
        self.met = 0
        self.count = 0
        self._file: IO[bytes] = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115

    def __enter__(self) -> Selection:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    @contextlib.contextmanager
    def unless_it_fails(self) -> Iterator[None]:
        """Closes the selection if the walk that fills it is interrupted or fails."""
        try:
            yield
        except BaseException:
            self._file.close()
            raise

    def add(self, part: AdminQueue, chosen: Chosen, place: int = 0) -> None:
        """Adds one item. ``place`` is the place of an element in its list."""
        self._file.write(json.dumps([part.name, place, entry_line(chosen)]).encode() + b"\n")
        self.count += 1

    def batches(self, most: int = _BATCH) -> Iterator[MendBatch]:
        """The selected items in order, in batches of at most this many. May be iterated once."""
        self._file.seek(0)
        chosen: list[Chosen] = []
        part, size, passed = "", 0, 0
        for line in self._file:
            name, place, told = json.loads(line)
            # Earlier elements have been removed by then, so the place of the first and the distances between elements
            # count.
            passed += place
            is_full = len(chosen) >= most or size + len(line) > _BATCH_BYTES or passed > _PASSED
            if chosen and (name != part or is_full):
                yield self._batch(part, chosen)
                chosen, size, passed = [], 0, place
            part = name
            chosen.append(entry_from(told))
            size += len(line)
        if chosen:
            yield self._batch(part, chosen)

    def _batch(self, name: str, chosen: list[Chosen]) -> MendBatch:
        part = self.queue.part(name)
        assert part is not None
        return MendBatch(part=part, chosen=tuple(chosen))


def select_waiting(
    queue: MendedQueue,
    wanted: Callable[[SeenItem], bool] | None = None,
    *,
    told: Callable[[int, int], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> Selection:
    """Selects the waiting items for which ``wanted`` is true, or all of them.

    ``told`` is called from time to time with how many were examined and selected. ``stop`` ends the walk early.
    Example::

        with select_waiting(queue, lambda row: row.attempts > 3) as selection:
            print(selection.count)

    The walk consists of short scripts, of about 3 ms each. Items that arrive meanwhile may or may not be selected.
    """
    selection = Selection(queue, "waiting")
    with selection.unless_it_fails():
        rows = ((part, row, met, 0) for part in queue.parts for row, met in all_waiting(part))
        _choose(selection, rows, wanted, told, stop)
    return selection


def select_aside(
    queue: MendedQueue,
    kind: AsideKind,
    wanted: Callable[[SeenItem], bool] | None = None,
    *,
    told: Callable[[int, int], None] | None = None,
    stop: Callable[[], bool] | None = None,
) -> Selection:
    """Selects dead letters, quarantined entries or undecodable values, as :func:`select_waiting` does."""
    selection = Selection(queue, kind)
    with selection.unless_it_fails():
        _choose(selection, _placed(selection, all_aside(queue, kind)), wanted, told, stop)
    return selection


def select_ready(
    queue: MendedQueue,
    wanted: Callable[[SeenItem], bool] | None = None,
    *,
    most: int,
    told: Callable[[int, int], None] | None = None,
) -> Selection:
    """Selects among the first ready values, ``most`` of each part, to set them aside as undecodable.

    The id of a row is its place in the list at this moment, such as ``ready@0``.
    """
    selection = Selection(queue, "undecodable")
    with selection.unless_it_fails():
        _choose(selection, _placed(selection, all_ready(queue, most)), wanted, told, None)
    return selection


def _placed(
    selection: Selection, found: Iterator[tuple[AdminQueue, SeenItem, Aside]]
) -> Iterator[tuple[AdminQueue, SeenItem, Aside, int]]:
    """The place of each element when it is removed: after the elements of its list that are not selected."""
    last, before = None, 0
    for part, row, aside in found:
        if part is not last and selection.queue.dead_letter is None:
            last, before = part, selection.met - selection.count
        yield part, row, aside, selection.met - selection.count - before


def _choose(
    selection: Selection,
    rows: Iterator[tuple[AdminQueue, SeenItem, _C, int]],
    wanted: Callable[[SeenItem], bool] | None,
    told: Callable[[int, int], None] | None,
    stop: Callable[[], bool] | None,
) -> None:
    for part, row, chosen, place in rows:
        if wanted is None or wanted(row):
            selection.add(part, chosen, place)
        selection.met += 1
        if selection.met % 1000 == 0:
            if told is not None:
                told(selection.met, selection.count)
            if stop is not None and stop():
                return
    if told is not None:
        told(selection.met, selection.count)
