"""Writes the JSON Schemas of redisson_dq/cli/schemas from the types in redisson_dq/cli/documents.

    python docs/make_schemas.py            writes them
    python docs/make_schemas.py --check    changes nothing, fails when one is not up to date

A schema says the type of each field, and the texts below the fields and classes are its descriptions. It allows further
fields, as a later release may add some. The script refuses to take a field out of a published schema, or to give it
another type, while ``SCHEMA`` is the same number.
"""

from __future__ import annotations

import argparse
import ast
import enum
import inspect
import json
import re
import sys
import types
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

import attrs

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from redisson_dq.cli._main import PROGRAM  # noqa: E402 - from this tree, installed or not
from redisson_dq.cli.documents.common import FailureDocument  # noqa: E402
from redisson_dq.cli.documents.of import Of  # noqa: E402
from redisson_dq.cli.documents.table import DOCUMENTS, LINES  # noqa: E402
from redisson_dq.cli.frame import SCHEMA  # noqa: E402

FOLDER = ROOT / "redisson_dq" / "cli" / "schemas"

Schema = dict[str, Any]

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_PLAIN: dict[Any, Schema] = {
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    str: {"type": "string"},
    timedelta: {"type": "number", "description": "In seconds."},
    # Validators need not look at formats. They look at patterns.
    datetime: {
        "type": "string",
        "format": "date-time",
        "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?\+00:00$",
    },
    bytes: {"type": "string", "pattern": "^([0-9a-f]{2})*$", "description": "Bytes in hex digits."},
    types.NoneType: {"type": "null"},
    Any: {},
}


# -- a type as a schema ----------------------------------------------------------------------------------------------


class Derived:
    """The schemas of types. Each class gets one definition, ``defs``, by its name."""

    def __init__(self) -> None:
        self.defs: dict[str, Schema] = {}

    def of(self, kind: Any) -> Schema:
        """The schema of a type."""
        if kind in _PLAIN:
            return dict(_PLAIN[kind])
        origin, arguments = get_origin(kind), get_args(kind)
        if origin is Annotated:
            (mark,) = kind.__metadata__
            return self._defined(mark.kind, mark) if isinstance(mark, Of) else _described(self.of(arguments[0]), mark)
        if origin is Literal:
            return {"type": "string", "enum": list(arguments)}
        if origin in (Union, types.UnionType):
            return self._any_of(arguments)
        if origin is list or (origin is tuple and arguments[1:] == (...,)):
            return {"type": "array", "items": self.of(arguments[0])}
        if origin is tuple:
            count = len(arguments)
            return {
                "type": "array",
                "prefixItems": [self.of(each) for each in arguments],
                "minItems": count,
                "maxItems": count,
            }
        if isinstance(origin, type) and issubclass(origin, Mapping):
            values = self.of(arguments[1])
            return {"type": "object", **({"additionalProperties": values} if values else {})}
        if issubclass(kind, enum.Enum):
            return {"type": "string", "enum": [each.value for each in kind]}
        if is_typeddict(kind) or attrs.has(kind):
            return self._defined(kind)
        raise TypeError(f"no schema is known for {kind!r}")

    def _any_of(self, arguments: Sequence[Any]) -> Schema:
        parts = [self.of(each) for each in arguments]
        others = [each for each in parts if each != {"type": "null"}]
        if len(others) == 1 and len(parts) == 2 and "type" in others[0]:
            (made,) = others
            choices = {"enum": [*made["enum"], None]} if "enum" in made else {}
            return {**made, "type": [made["type"], "null"], **choices}
        kinds = [each["type"] for each in parts if each.keys() == {"type"}]
        return {"type": kinds} if len(kinds) == len(parts) else {"anyOf": parts}

    def _defined(self, kind: Any, mark: Of | None = None) -> Schema:
        name = kind.__name__ if mark is None else f"{kind.__name__}Row"
        if name not in self.defs:
            # A class may have a field of its own type.
            self.defs[name] = {}
            self.defs[name] = self._object(kind, mark)
        return {"$ref": f"#/$defs/{name}"}

    def _object(self, kind: Any, mark: Of | None) -> Schema:
        fields = _types_of(kind)
        if mark is not None:
            fields |= {name: _type_of_property(kind, name) for name in mark.properties} | mark.types
        texts = _texts_of(kind)
        # Where no field has a text of its own, the class tells of its fields.
        told = _first_part(kind.__doc__) if texts else _all_parts(kind.__doc__)
        return {
            "type": "object",
            **({"description": told} if told else {}),
            "properties": {name: _described(self.of(each), texts.get(name)) for name, each in fields.items()},
            "required": list(fields),
        }


def _types_of(kind: Any) -> dict[str, Any]:
    hints = get_type_hints(kind, include_extras=True)
    return {each.name: hints[each.name] for each in attrs.fields(kind)} if attrs.has(kind) else hints


def _type_of_property(kind: type, name: str) -> Any:
    return get_type_hints(getattr(kind, name).fget)["return"]


def _described(schema: Schema, text: str | None) -> Schema:
    if text is None:
        return schema
    return {**schema, "description": f"{text} {schema['description']}" if "description" in schema else text}


# -- the texts -------------------------------------------------------------------------------------------------------


def _first_part(text: str | None) -> str:
    """The first paragraph of a docstring, on one line and in JSON's words."""
    line = " ".join(inspect.cleandoc(text or "").partition("\n\n")[0].replace("``", "").split())
    return re.sub(r"\bNone\b", "null", line)


def _all_parts(text: str | None) -> str:
    """A docstring without its examples, on one line."""
    parts = [each for each in inspect.cleandoc(text or "").split("\n\n") if ">>>" not in each]
    return " ".join(map(_first_part, parts))


def _texts_of(kind: Any) -> dict[str, str]:
    """The texts that stand below the fields of a class and of those above it."""
    classes = _classes_of(kind.__module__)
    if kind.__name__ not in classes:
        return {}
    found: dict[str, str] = {}
    above = [each for each in kind.__mro__[1:-1] if each is not dict]
    for each in above:
        found = {**_texts_of(each), **found}
    node = classes[kind.__name__]
    found |= _comments_in(kind.__module__, node)
    if is_typeddict(kind):
        # When it runs, a TypedDict does not know those above it.
        for base in node.bases:
            if isinstance(base, ast.Name) and base.id != "TypedDict":
                found |= _texts_of(getattr(sys.modules[kind.__module__], base.id))
    for field, text in zip(node.body, node.body[1:], strict=False):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(text, ast.Expr):
            found[field.target.id] = _first_part(ast.literal_eval(text.value))
    return found


def _comments_in(module: str, node: ast.ClassDef) -> dict[str, str]:
    """The comments ``#:`` above the fields of a class."""
    lines, found, text = inspect.getsource(sys.modules[module]).splitlines(), dict[str, str](), list[str]()
    fields = {field.lineno: field.target.id for field in node.body if isinstance(field, ast.AnnAssign)}
    for number, line in enumerate(lines[node.lineno : node.end_lineno], node.lineno + 1):
        if line.strip().startswith("#:"):
            text.append(line.strip().removeprefix("#:"))
        else:
            if number in fields and text:
                found[fields[number]] = _first_part("".join(text))
            text = []
    return found


@cache
def _classes_of(module: str) -> dict[str, ast.ClassDef]:
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}


# -- the documents ---------------------------------------------------------------------------------------------------


def schema_of(command: str) -> Schema:
    """The schema of the output of a command."""
    derived = Derived()
    references = [derived.of(kind) for kind in (*DOCUMENTS[command], FailureDocument)]
    for reference in references:
        top = derived.defs[reference["$ref"].rpartition("/")[2]]
        top["properties"] = {"schema": {"const": SCHEMA}, **top["properties"]}
        top["required"] = ["schema", *top["required"]]
    option = LINES.get(command)
    how_many = "The output is one document." if option != "" else "Each line is one document."
    how_many += f" With {option} each line is one." if option else ""
    return {
        "$schema": _DIALECT,
        "$id": f"urn:redisson-dq:json:{SCHEMA}:{command.replace(' ', '-')}",
        "title": f"{PROGRAM} {command} --json",
        "description": how_many,
        "anyOf": references,
        "$defs": derived.defs,
    }


def file_of(command: str) -> Path:
    """The file of the schema of a command."""
    return FOLDER / f"{command.replace(' ', '-')}.json"


def changes(before: Any, after: Any, place: str = "") -> Iterator[str]:
    """The places in which a schema differs from the one before by more than fields and definitions that were added."""
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        may_grow = place.endswith(("/properties", "/$defs"))
        for name in before.keys() | after.keys():
            if name == "description" and not may_grow:
                continue
            if name not in after or (name not in before and not may_grow):
                yield f"{place}/{name}"
            elif name in before:
                yield from changes(before[name], after[name], f"{place}/{name}")
    elif place.endswith("/required"):
        yield from (f"{place}/{name}" for name in before if name not in after)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for i, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from changes(one, other, f"{place}/{i}")
    elif before != after:
        yield place


def broken(before: Schema | None, after: Schema | None) -> list[str]:
    """The places in which a schema breaks the promise of its version. None is a schema that is not there."""
    if before is None or not before["$id"].startswith(f"urn:redisson-dq:json:{SCHEMA}:"):
        return []
    return ["the schema itself"] if after is None else sorted(changes(before, after))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare only, change nothing")
    check = parser.parse_args().check
    made = {file_of(command): schema_of(command) for command in DOCUMENTS}
    published = {path: json.loads(path.read_text("utf-8")) for path in FOLDER.glob("*.json")}
    wrong = [path for path in published.keys() | made.keys() if published.get(path) != made.get(path)]
    for path in wrong:
        if changed := broken(published.get(path), made.get(path)):
            sys.exit(f"{path.name}: raise SCHEMA, as this is gone or changed: {', '.join(changed)}")
    if check and wrong:
        sys.exit(f"run python docs/make_schemas.py; not up to date: {', '.join(path.name for path in wrong)}")
    for path in sorted(wrong):
        if path in made:
            path.write_text(json.dumps(made[path], indent=2) + "\n", "utf-8")
        else:
            path.unlink()
        print(f"{'wrote' if path in made else 'removed'} {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
