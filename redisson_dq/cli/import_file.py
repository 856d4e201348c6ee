"""``redisson-dq import``: puts the file of an export into a queue."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from redisson_dq._operations.shell import command_line, url_words
from redisson_dq.cli.frame import (
    FINE,
    Consent,
    Output,
    Server,
    fields_of,
    hint_on_error,
    json_option,
    progress,
    server_options,
    write_options,
)
from redisson_dq.errors import ArgumentError

if TYPE_CHECKING:
    from redisson_dq.migrating import Imported
    from redisson_dq.migrating.file import Checked

__all__ = ["command"]


@click.command(help="Import an exported file into a queue. After a kill, run it again: nothing is imported twice.")
@click.argument("file", metavar="FILE", type=click.Path(exists=True, dir_okay=False))
@click.option("--to-name", metavar="NAME", help="Import into this queue instead of the exported one.")
@click.option("--to-url", metavar="URL", help="Import into this server instead of the one of --url.")
@click.option("--merge", is_flag=True, help="Import also into a queue that is not empty.")
@write_options()
@server_options
@json_option
def command(
    file: str, to_name: str | None, to_url: str | None, merge: bool, consent: Consent, server: Server, output: Output
) -> int:
    """Checks the digest of the file, then imports it."""
    import attrs

    from redisson_dq.migrating import Imported, QueueSite, checked, import_file

    path = Path(file)
    found = checked(path)
    name = to_name or found.header["queue"]
    target = server if to_url is None else attrs.evolve(server, url=to_url, redisson_config=None)
    count = sum(found.end["counts"].values())
    if not consent.given(f"put {count:,} contents of {found.header['queue']} into {name}"):
        if output.as_json:
            _show(output, Imported(queue=name, counts={}, resumed_at=0, mended=0), found, consent)
        return FINE
    options = [
        *(["--to-name", to_name] if to_name else []),
        *url_words("--to-url", to_url),
        *(["--merge"] if merge else []),
    ]
    line = command_line("import", [file], [*options, "--yes"])
    with (
        target.client() as client,
        progress(f"importing {name}") as shown,
        hint_on_error(lambda: f"to go on: {line}", but_not=ArgumentError),
    ):
        last = 0

        def tell(done: int, total: int) -> None:
            nonlocal last
            shown.expect(total)
            shown.add(done - last)
            last = done

        done = import_file(QueueSite.of(client, name), path, merge=merge, progress=tell)
    if output.as_json:
        _show(output, done, found, consent)
    else:
        output.fields([("queue", done.queue), *done.counts.items(), ("mended", done.mended)])
    return FINE


def _show(output: Output, done: Imported, file: Checked, consent: Consent) -> None:
    output.document(**fields_of(done, dry_run=consent.dry_run, wanted=file.end["counts"]))
