"""``redisson-dq export``: writes all of a queue into a file, for ``redisson-dq import``."""

from __future__ import annotations

import contextlib
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from redisson_dq._shell import command_line
from redisson_dq.cli.frame import (
    FINE,
    PROBLEM,
    Output,
    Server,
    hint_on_error,
    json_option,
    progress,
    queue_argument,
    say,
    server_options,
)
from redisson_dq.errors import ArgumentError

if TYPE_CHECKING:
    from redisson_dq.migrating import Exported, QueueSite

__all__ = ["command"]


@click.command(help="Write all of a queue into a file: exact bytes, ids, due times, leases.")
@queue_argument
@click.option("--to", metavar="FILE", help="The new file. Without it the lines go to standard output.")
@click.option("--pause", is_flag=True, help="Pause delivery meanwhile, for a file of one moment.")
@server_options
@json_option
def command(queue: str, to: str | None, pause: bool, server: Server, output: Output) -> int:
    """Exports the queue, or each of its partitions into a file of its own. 1 where ``--pause`` was not enough."""
    from redisson_dq.migrating import sites_of

    with server.client() as client:
        sites = sites_of(client, queue)
        if to is None:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder, "export.jsonl")
                if len(sites) > 1:
                    raise click.UsageError(f"{queue} has {len(sites)} partitions, and each has a file: give --to")
                done = [_export(sites[0], path, pause)]
                with path.open("rb") as file:
                    shutil.copyfileobj(file, sys.stdout.buffer)
            return PROBLEM if pause and not done[0].exact else FINE
        paths = [Path(to)] if len(sites) == 1 else [_numbered(Path(to), i) for i in range(len(sites))]
        with _hint(queue, paths, pause):
            done = [_export(site, path, pause) for site, path in zip(sites, paths, strict=True)]
    if output.as_json:
        files = [
            {
                "queue": each.queue,
                "file": str(path),
                "counts": each.counts,
                "lines": each.lines,
                "sha256": each.sha256,
                "exact": each.exact,
            }
            for each, path in zip(done, paths, strict=True)
        ]
        output.document(files=files)
    else:
        for each, path in zip(done, paths, strict=True):
            output.fields([("file", str(path)), ("queue", each.queue), *each.counts.items()])
            output.fields([("lines", each.lines), ("sha256", each.sha256), ("exact", "yes" if each.exact else "no")])
    if pause and not all(each.exact for each in done):
        say("the queue changed meanwhile, in spite of the pause: stop its producers and consumers", error=True)
        return PROBLEM
    return FINE


def _hint(queue: str, paths: Sequence[Path], pause: bool) -> contextlib.AbstractContextManager[None]:
    """Prints the command that goes on, where there is one: of several files the first ones may be complete."""
    if len(paths) > 1:
        return contextlib.nullcontext()
    line = command_line("export", [queue], ["--to", str(paths[0]), *(["--pause"] if pause else [])])
    return hint_on_error(lambda: f"to go on: {line}", but_not=ArgumentError)


def _numbered(path: Path, number: int) -> Path:
    return path.with_name(f"{path.stem}.{number}{path.suffix}")


def _export(site: QueueSite, path: Path, pause: bool) -> Exported:
    from redisson_dq.migrating import export

    with progress(f"exporting {site.name}") as shown:
        last = 0

        def tell(done: int, total: int) -> None:
            nonlocal last
            shown.expect(total)
            shown.add(max(0, done - last))
            last = done

        return export(site, path, pause=pause, progress=tell)
