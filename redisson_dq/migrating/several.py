"""Writes the partitions of a queue, each to its own file, as one export that can be resumed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from redisson_dq.errors import ArgumentError
from redisson_dq.migrating.exporting import Exported, OnProgress, check_free, export
from redisson_dq.migrating.file import checked
from redisson_dq.migrating.sites import QueueSite

__all__ = ["export_all"]


def export_all(
    places: Sequence[QueueSite],
    path: Path,
    *,
    pause: bool = False,
    progress: Callable[[QueueSite], AbstractContextManager[OnProgress]],
) -> list[tuple[Path, Exported]]:
    """Writes the partitions of a queue, each to its own file: ``path`` with a number before its extension.

    ``progress`` returns the progress function of each partition. The file ``path`` plus ``.exporting`` exists until all
    partitions are written. While it exists, an interrupted export continues, and complete files stay. Otherwise like
    :func:`export`.
    """
    files = [path.with_name(f"{path.stem}.{number}{path.suffix}") for number in range(len(places))]
    note = path.with_name(path.name + ".exporting")
    if not note.exists():
        for place, file in zip(places, files, strict=True):
            check_free(place, file)
        note.touch()
    done = []
    for place, file in zip(places, files, strict=True):
        if file.exists():
            done.append((file, _written_before(place, file)))
            continue
        with progress(place) as told:
            done.append((file, export(place, file, pause=pause, progress=told)))
    note.unlink()
    return done


def _written_before(place: QueueSite, path: Path) -> Exported:
    found = checked(path)
    if found.header["raw"] != place.raw:
        raise ArgumentError(
            f"queue {place.name!r}: the file {str(path)!r} is an export of {found.header['queue']!r}; name another file"
        )
    end = found.end
    return Exported(queue=place.name, counts=end["counts"], lines=end["lines"], sha256=found.digest, exact=end["exact"])
