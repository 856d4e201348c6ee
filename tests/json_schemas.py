"""Holds the output of commands against their published JSON Schemas."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import jsonschema

import redisson_dq.cli
from redisson_dq.cli._main import program
from redisson_dq.cli.documents.table import LINES
from redisson_dq.cli.schema import strict_schema

__all__ = ["FOLDER", "documents", "published", "with_json"]

FOLDER = Path(redisson_dq.cli.__file__).parent / "schemas"


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


def published(command: str) -> Any:
    """The schema of a command as it ships."""
    return json.loads(FOLDER.joinpath(f"{command.replace(' ', '-')}.json").read_text("utf-8"))


def documents(command: str, output: str, option: str = "") -> list[Any]:
    """The documents of an output. Raises where it has anything else, or a field that its schema does not have.

    ``option`` is the one with which the command prints lines, where it was given.
    """
    are_lines = LINES.get(command) == option
    found = [json.loads(each) for each in (output.splitlines() if are_lines else [output])]
    check = jsonschema.Draft202012Validator(strict_schema(published(command)))
    for each in found:
        error = jsonschema.exceptions.best_match(check.iter_errors(each))
        assert error is None, f"{command}: {error.json_path}: {error.message[:500]}\n{error.schema}"[:2000]
    return found
