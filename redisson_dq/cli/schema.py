"""``redisson-dq schema``: the JSON Schema of the output of a command."""

from __future__ import annotations

import json

import click

from redisson_dq.cli.frame import FINE, NoSuchCommand, say

__all__ = ["command"]


@click.command(
    help="""Print the JSON Schema of the output that COMMAND has with --json.

    COMMAND is a command such as list or dead list. Without it, the commands that have a schema are listed. The schema
    allows further fields, because a later release may add some.
    """
)
@click.argument("words", metavar="[COMMAND]...", nargs=-1)
@click.option("--strict", is_flag=True, help="Allow no field that this release does not know.")
def command(words: tuple[str, ...], strict: bool) -> int:
    """Prints the schema, or the names."""
    # Importing the types of all commands imports everything that the commands use.
    from redisson_dq.cli.documents.table import DOCUMENTS
    from redisson_dq.cli.json_schemas import schema_of, strict_schema

    names = {name.replace(" ", "-"): name for name in DOCUMENTS}
    if not words:
        say("\n".join(names[stem] for stem in sorted(names)), lines=True)
        return FINE
    if (stem := "-".join(words)) not in names:
        known = [names[stem] for stem in sorted(names)]
        raise NoSuchCommand(" ".join(words), known, click.get_current_context())
    schema = schema_of(names[stem])
    say(json.dumps(strict_schema(schema) if strict else schema, indent=2), lines=True)
    return FINE
