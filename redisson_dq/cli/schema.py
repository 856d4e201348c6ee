"""``redisson-dq schema``: the JSON Schema of the output of a command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from redisson_dq.cli.frame import FINE, NoSuchCommand, say

__all__ = ["command", "strict_schema"]

# docs/make_schemas.py writes them.
_FOLDER = Path(__file__).parent / "schemas"


@click.command(
    help="""Print the JSON Schema of the output that COMMAND has with --json.

    COMMAND is such as list, or dead list. Without it the commands that have one are listed, one a line. The schema
    allows further fields, as a later release may add some.
    """
)
@click.argument("words", metavar="[COMMAND]...", nargs=-1)
@click.option("--strict", is_flag=True, help="Allow no field that this release does not know.")
def command(words: tuple[str, ...], strict: bool) -> int:
    """Prints the schema, or the names."""
    titles = {path.stem: json.loads(path.read_text("utf-8"))["title"] for path in sorted(_FOLDER.glob("*.json"))}
    names = {stem: " ".join(title.split()[1:-1]) for stem, title in titles.items()}
    if not words:
        say("\n".join(names.values()), lines=True)
        return FINE
    stem = "-".join(words)
    if stem not in names:
        raise NoSuchCommand(" ".join(words), list(names.values()), click.get_current_context())
    schema = json.loads(_FOLDER.joinpath(f"{stem}.json").read_text("utf-8"))
    say(json.dumps(strict_schema(schema) if strict else schema, indent=2), lines=True)
    return FINE


def strict_schema(schema: Any) -> Any:
    """The schema, which allows no other fields than those that it names. Where it names none, any may be there."""
    if isinstance(schema, list):
        return [strict_schema(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {"additionalProperties": False} if isinstance(schema.get("required"), list) else {}
    return {**{name: strict_schema(each) for name, each in schema.items()}, **closed}
