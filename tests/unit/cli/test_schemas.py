"""The JSON Schemas: every command with ``--json`` has one, and one version of it keeps its promise."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from datetime import datetime, timezone
from typing import Annotated, Any, Literal, TypedDict

import attrs
import jsonschema
import pytest

from redisson_dq.cli import main
from redisson_dq.cli.documents.of import Of
from redisson_dq.cli.documents.table import DOCUMENTS, LINES
from redisson_dq.cli.frame import SCHEMA, Output, fields_of
from redisson_dq.cli.json_schemas import Derived, schema_of, strict_schema
from tests.conftest import environment
from tests.json_schemas import documents, made, promises, read_promises, with_json


def test_every_command_with_json_has_a_schema() -> None:
    """A new command needs its type in redisson_dq/cli/documents."""
    assert set(with_json()) == set(DOCUMENTS)
    assert set(DOCUMENTS) > set(LINES)


def test_every_field_of_this_version_is_promised() -> None:
    """One that was added: ``make generate``. One that is gone or changed: ``SCHEMA`` too."""
    version, promised = read_promises()
    now = made()
    assert (version, promised - now, now - promised) == (SCHEMA, set(), set())


@pytest.mark.parametrize("command", DOCUMENTS)
def test_a_schema_is_one(command: str) -> None:
    schema = schema_of(command)
    jsonschema.Draft202012Validator.check_schema(schema)
    check = jsonschema.Draft202012Validator(schema)
    assert not check.is_valid({"schema": 1})
    failure = {"exit_code": 1, "error": "x", "message": "", "queue": None, "key": None, "remedy": None}
    assert check.is_valid({"schema": 1, "failure": failure, "added": "later"})
    assert not check.is_valid({"schema": 2, "failure": failure})
    assert not jsonschema.Draft202012Validator(strict_schema(schema)).is_valid(
        {"schema": 1, "failure": failure, "added": "later"}
    )


# -- the promise of a version ----------------------------------------------------------------------------------------


def _row(schema: Any) -> Any:
    return schema["$defs"]["QueueRow"]


def _removed(schema: Any) -> None:
    _row(schema)["properties"].pop("partitions")
    _row(schema)["required"].remove("partitions")


def _optional(schema: Any) -> None:
    _row(schema)["required"].remove("partitions")


def _retyped(schema: Any) -> None:
    _row(schema)["properties"]["partitions"]["type"] = ["string", "null"]


def _may_be_null(schema: Any) -> None:
    _row(schema)["properties"]["name"]["type"] = ["string", "null"]


def _another_row(schema: Any) -> None:
    schema["$defs"]["QueuesDocument"]["properties"]["queues"]["items"]["$ref"] = "#/$defs/QueueStats"


def _new_form(schema: Any) -> None:
    schema["anyOf"].append({"$ref": "#/$defs/QueueRow"})


def _added(schema: Any) -> None:
    _row(schema)["properties"]["colour"] = {"type": "string"}
    _row(schema)["required"].append("colour")


def _told(schema: Any) -> None:
    _row(schema)["description"] = "A queue."
    _row(schema)["properties"]["name"]["description"] = "Its name."


@pytest.mark.parametrize(
    ("change", "field"),
    [
        (_removed, "QueueRow partitions"),
        (_optional, "QueueRow partitions"),
        (_retyped, "QueueRow partitions"),
        (_may_be_null, "QueueRow name"),
        (_another_row, "QueuesDocument queues"),
        (_new_form, "- -"),
        (_added, None),
        (_told, None),
    ],
)
def test_a_field_may_be_added_and_no_other_change_keeps_the_version(change: Any, field: str | None) -> None:
    before = schema_of("queues")
    after = copy.deepcopy(before)
    change(after)
    assert before != after
    gone = promises("queues", before) - promises("queues", after)
    assert [f"{definition} {name}" for _, definition, name, _ in gone] == ([field] if field else [])


# -- types and how they are written ----------------------------------------------------------------------------------


@attrs.frozen
class Figures:
    """Figures. More of it.

    Another part.
    """

    at: datetime
    """When. A moment."""
    #: How many
    #: there are.
    count: int = 1
    inner: Figures | None = None

    @property
    def twice(self) -> int:
        return 2 * self.count


_Class = TypedDict("_Class", {"class": "str | None"})


class Row(_Class):
    state: Literal["a", "b"] | None
    data: bytes
    pairs: list[tuple[str, int]]
    counts: dict[str, int]
    value: Any
    figures: Annotated[dict[str, Any], Of(Figures, "twice", inner=str)]


class LowerRow(Row):
    number: float | None


def test_a_type_and_its_schema_and_its_output_agree(capsys: pytest.CaptureFixture[str]) -> None:
    derived = Derived()
    reference = derived.of(LowerRow)
    schema = {**reference, "$defs": derived.defs}
    jsonschema.Draft202012Validator.check_schema(schema)
    fields = derived.defs["FiguresRow"]["properties"]
    assert (fields["at"]["description"], fields["count"]["description"]) == ("When. A moment.", "How many there are.")
    assert (fields["inner"], fields["twice"]) == ({"type": "string"}, {"type": "integer"})
    row: LowerRow = {
        "class": None,
        "state": "a",
        "data": b"\x00\xff",
        "pairs": [("x", 2**63)],
        "counts": {},
        "value": float("nan"),
        "figures": fields_of(Figures(datetime(2026, 1, 2, tzinfo=timezone.utc)), "twice", inner="x"),
        "number": None,
    }
    Output(True).document(**row)
    told = json.loads(capsys.readouterr().out)
    told.pop("schema")
    assert (told["value"], told["pairs"][0][1], told["data"]) == ("nan", 2**63, "00ff")
    check = jsonschema.Draft202012Validator(strict_schema(schema))
    assert list(check.iter_errors(told)) == []
    for name, wrong in {
        "class": 1,
        "state": "c",
        "data": "0",
        "pairs": [["x"]],
        "counts": {"x": "1"},
        "figures": {**told["figures"], "at": "2026-01-02T00:00:00"},
        "number": "inf",
        "more": 1,
    }.items():
        assert len(list(check.iter_errors({**told, name: wrong}))) == 1, name


# -- the command -----------------------------------------------------------------------------------------------------


def test_the_command_prints_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    assert capsys.readouterr().out.split("\n")[:-1] == sorted(DOCUMENTS, key=lambda name: name.replace(" ", "-"))
    for words in (["dead", "list"], ["dead-list"]):
        assert main(["schema", *words]) == 0
        assert json.loads(capsys.readouterr().out) == schema_of("dead list")
    assert main(["schema", "--strict", "queues"]) == 0
    assert json.loads(capsys.readouterr().out) == strict_schema(schema_of("queues"))
    assert main(["schema", "dead", "lst"]) == 64
    assert "there is no command dead lst; did you mean dead list?" in capsys.readouterr().err


def test_an_optimizing_python_prints_the_same() -> None:
    """It leaves docstrings out of classes."""
    command = [sys.executable, "-OO", "-m", "redisson_dq", "schema", "list"]
    done = subprocess.run(command, capture_output=True, env=environment(), text=True, check=True)
    assert json.loads(done.stdout) == schema_of("list")


@pytest.mark.parametrize("command", with_json())
def test_arguments_that_are_wrong_give_a_document_too(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command.split(), "--no-such-option", "--json"]) == 64
    told = capsys.readouterr()
    (found,) = documents(command, told.out)
    assert found["failure"]["exit_code"] == 64
    assert found["failure"]["error"] == "UsageError"
    assert f"error: {found['failure']['message']}\n" in told.err
    # A word after -- is not an option.
    assert main([*command.split(), "--no-such-option", "--", "--json"]) == 64
    assert capsys.readouterr().out == ""


def test_an_error_keeps_its_exit_code_where_nobody_can_read_the_document() -> None:
    words = ["plan", "--rate", "1", "--delay", "1", "--size", "1", "--codec", "none", "--json"]
    with open("/dev/full", "w") as full:
        command = [sys.executable, "-m", "redisson_dq", *words]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, env=environment(), text=True, check=False)
    assert (done.returncode, "Traceback" in done.stderr) == (64, False)
