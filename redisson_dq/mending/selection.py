"""The items that an action is for: counted and kept in a temporary file before anything is changed."""

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

# One script call acts on this many, and on this many bytes behind the first.
_BATCH, _BATCH_BYTES = 250, 1_000_000
# So much of a selection is kept in memory.
_IN_MEMORY = 16_000_000
# LREM passes over this many elements in 5 ms.
_PASSED = 300_000


@attrs.frozen(kw_only=True)
class MendBatch:
    """Some entries of one part, acted on by one script call."""

    part: AdminQueue
    chosen: tuple[Chosen, ...]


class Selection:
    """The items that were chosen, each by its bytes. To be closed, as a temporary file has them.

    ``met`` is how many items were looked at, ``count`` how many were chosen.
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
        """Closes the selection when the walk that makes it is interrupted or fails."""
        try:
            yield
        except BaseException:
            self._file.close()
            raise

    def add(self, part: AdminQueue, chosen: Chosen, place: int = 0) -> None:
        """Chooses one item. ``place`` is that of an element in its list."""
        self._file.write(json.dumps([part.name, place, entry_line(chosen)]).encode() + b"\n")
        self.count += 1

    def batches(self, most: int = _BATCH) -> Iterator[MendBatch]:
        """The chosen items in their order, in batches of at most this many. May be asked for once."""
        self._file.seek(0)
        chosen: list[Chosen] = []
        part, size, passed = "", 0, 0
        for line in self._file:
            name, place, told = json.loads(line)
            # A batch takes out those before, so the first one's place counts, and the way from one to the next.
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
    """Chooses the waiting items for which ``wanted`` is true, or all of them.

    ``told`` is called now and then with how many were met and chosen, and with ``stop`` it ends early. Example::

        with select_waiting(queue, lambda row: row.attempts > 3) as selection:
            print(selection.count)

    A walk of short scripts, some 3 ms each. Items that come meanwhile may be chosen or not.
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
    """Chooses dead letters, quarantined entries or undecodable values, as :func:`select_waiting` does."""
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
    """Chooses among the first ready values, ``most`` of each part, to set them aside as undecodable.

    The id of a row is its place in the list at this moment, such as ``ready@0``.
    """
    selection = Selection(queue, "undecodable")
    with selection.unless_it_fails():
        _choose(selection, _placed(selection, all_ready(queue, most)), wanted, told, None)
    return selection


def _placed(
    selection: Selection, found: Iterator[tuple[AdminQueue, SeenItem, Aside]]
) -> Iterator[tuple[AdminQueue, SeenItem, Aside, int]]:
    """The place of each element when it is taken out: it is behind those of its list that are not chosen."""
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
