"""``redisson-dq import``: puts the file of an export into a queue."""

from __future__ import annotations

from pathlib import Path

import click

from redisson_dq._shell import command_line, url_words
from redisson_dq.cli.frame import (
    FINE,
    Consent,
    Output,
    Server,
    hint_on_error,
    json_option,
    progress,
    server_options,
    write_options,
)
from redisson_dq.errors import ArgumentError

__all__ = ["command"]


@click.command(help="Put the file of an export into a queue. Begun again after a kill, it puts nothing in twice.")
@click.argument("file", metavar="FILE", type=click.Path(exists=True, dir_okay=False))
@click.option("--to-name", metavar="NAME", help="Another queue than the one that was exported.")
@click.option("--to-url", metavar="URL", help="Another server than that of --url.")
@click.option("--merge", is_flag=True, help="Put the contents into a queue that is not empty.")
@write_options()
@server_options
@json_option
def command(
    file: str, to_name: str | None, to_url: str | None, merge: bool, consent: Consent, server: Server, output: Output
) -> int:
    """Checks the digest of the file, then imports it."""
    import attrs

    from redisson_dq.migrating import QueueSite, checked, import_file

    path = Path(file)
    found = checked(path)
    name = to_name or found.header["queue"]
    target = server if to_url is None else attrs.evolve(server, url=to_url, redisson_config=None)
    count = sum(found.end["counts"].values())
    if not consent.given(f"put {count:,} contents of {found.header['queue']} into {name}"):
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
        output.document(queue=done.queue, counts=done.counts, resumed_at=done.resumed_at, mended=done.mended)
    else:
        output.fields([("queue", done.queue), *done.counts.items(), ("mended", done.mended)])
    return FINE
