"""Holds the output of commands against their JSON Schemas, and the schemas against the promise of their version.

    python -m tests.json_schemas    notes the fields that were added, in tests/promised_json.txt

It refuses to take a field out, or to give it another type, while ``SCHEMA`` is the same number.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import jsonschema

from redisson_dq.cli._main import program
from redisson_dq.cli.documents.table import DOCUMENTS, LINES
from redisson_dq.cli.frame import SCHEMA
from redisson_dq.cli.json_schemas import schema_of, strict_schema

__all__ = ["PROMISED", "documents", "made", "promises", "read_promises", "with_json"]

#: A line for each field: the definition, the field, its schema without texts, and the commands that print it.
PROMISED = Path(__file__).with_name("promised_json.txt")

#: The command, the definition, the field, its schema.
Promise = tuple[str, str, str, str]


def with_json() -> list[str]:
    """Every command that has ``--json``, in the order of the help."""
    return list(_with_json(program, click.Context(program), ""))


def _with_json(command: click.Command, context: click.Context, name: str) -> Iterator[str]:
    if isinstance(command, click.Group):
        for each in command.list_commands(context):
            inner = command.get_command(context, each)
            assert inner is not None
            yield from _with_json(inner, context, f"{name} {each}".strip())
    elif any("--json" in option.opts for option in command.params):
        yield name


def documents(command: str, output: str, option: str = "") -> list[Any]:
    """The documents of an output. Raises where it has anything else, or a field that its schema does not have.

    ``option`` is the one with which the command prints lines, where it was given.
    """
    are_lines = LINES.get(command) == option
    found = [json.loads(each) for each in (output.splitlines() if are_lines else [output])]
    check = jsonschema.Draft202012Validator(strict_schema(schema_of(command)))
    for each in found:
        error = jsonschema.exceptions.best_match(check.iter_errors(each))
        assert error is None, f"{command}: {error.json_path}: {error.message[:500]}\n{error.schema}"[:2000]
    return found


# -- the promise of a version ----------------------------------------------------------------------------------------


def promises(command: str, schema: Any) -> set[Promise]:
    """All that a schema promises: the forms of the document, and the type of each field that is always there."""
    found = {(command, "-", "-", _bare(schema["anyOf"]))}
    for name, definition in schema["$defs"].items():
        fields = definition["properties"]
        found |= {(command, name, each, _bare(fields[each])) for each in definition["required"]}
    return found


def _bare(schema: Any) -> str:
    return json.dumps(_without_texts(schema), separators=(",", ":"))


def _without_texts(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_without_texts(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {name: _without_texts(each) for name, each in schema.items() if name != "description"}


def made() -> set[Promise]:
    """The promises of the schemas of this tree."""
    return {each for command in DOCUMENTS for each in promises(command, schema_of(command))}


def read_promises() -> tuple[int, set[Promise]]:
    """The version of the file, and the fields that it promises."""
    first, *lines = PROMISED.read_text("utf-8").splitlines()
    found = set[Promise]()
    for line in lines:
        definition, field, schema, *commands = line.split(" ")
        found |= {(command.replace("_", " "), definition, field, schema) for command in commands}
    return int(first), found


def main() -> int:
    version, promised = read_promises()
    now = made()
    if version == SCHEMA and (gone := promised - now):
        sys.exit("\n".join(["raise SCHEMA, as this is gone or changed:", *map(" ".join, sorted(gone))]))
    rows: dict[tuple[str, str, str], list[str]] = {}
    for command, *row in sorted(now):
        definition, field, schema = row
        rows.setdefault((definition, field, schema), []).append(command.replace(" ", "_"))
    lines = [" ".join((*row, *commands)) for row, commands in sorted(rows.items())]
    PROMISED.write_text("\n".join([str(SCHEMA), *lines]) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
