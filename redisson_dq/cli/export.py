"""``redisson-dq export``: writes all of a queue into a file, for ``redisson-dq import``."""

from __future__ import annotations

import contextlib
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from redisson_dq._operations.shell import command_line
from redisson_dq.cli.frame import (
    FINE,
    PROBLEM,
    Output,
    Server,
    fields_of,
    hint_on_error,
    json_option,
    progress,
    queue_argument,
    say,
    server_options,
)
from redisson_dq.errors import ArgumentError

if TYPE_CHECKING:
    from redisson_dq.cli.documents.moving import ExportDocument
    from redisson_dq.migrating import OnProgress, QueueSite

__all__ = ["command"]


@click.command(help="Write all of a queue into a file: exact bytes, ids, due times, leases.")
@queue_argument
@click.option("--to", metavar="FILE", help="The new file. Without it the lines go to standard output.")
@click.option("--pause", is_flag=True, help="Pause delivery during the export, so that the file shows one moment.")
@server_options
@json_option
def command(queue: str, to: str | None, pause: bool, server: Server, output: Output) -> int:
    """Exports the queue, or each of its partitions into a file of its own. 1 where ``--pause`` was not enough."""
    from redisson_dq.migrating import export, export_all, sites_of

    if to is None and output.as_json:
        raise click.UsageError(
            "--json describes the files that --to names; without --to the lines go to standard output"
        )
    with server.client() as client:
        sites = sites_of(client, queue)
        if to is None:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder, "export.jsonl")
                if len(sites) > 1:
                    raise click.UsageError(f"{queue} has {len(sites)} partitions, and each has its own file: use --to")
                with _shown(sites[0]) as told:
                    written = export(sites[0], path, pause=pause, progress=told)
                with path.open("rb") as file:
                    shutil.copyfileobj(file, sys.stdout.buffer)
            return PROBLEM if pause and not written.exact else FINE
        line = command_line("export", [queue], ["--to", to, *(["--pause"] if pause else [])])
        with hint_on_error(lambda: f"to go on: {line}", but_not=ArgumentError):
            if len(sites) > 1:
                done = export_all(sites, Path(to), pause=pause, progress=_shown)
            else:
                with _shown(sites[0]) as told:
                    done = [(Path(to), export(sites[0], Path(to), pause=pause, progress=told))]
    if output.as_json:
        files: ExportDocument = {"files": [fields_of(each, file=str(path)) for path, each in done]}
        output.document(**files)
    else:
        for path, each in done:
            output.fields([("file", str(path)), ("queue", each.queue), *each.counts.items()])
            output.fields([("lines", each.lines), ("sha256", each.sha256), ("exact", "yes" if each.exact else "no")])
    if pause and not all(each.exact for _, each in done):
        say("the queue changed despite the pause: stop its producers and consumers", error=True)
        return PROBLEM
    return FINE


@contextlib.contextmanager
def _shown(site: QueueSite) -> Iterator[OnProgress]:
    with progress(f"exporting {site.name}") as shown:
        last = 0

        def tell(done: int, total: int) -> None:
            nonlocal last
            shown.expect(total)
            shown.add(max(0, done - last))
            last = done

        yield tell
