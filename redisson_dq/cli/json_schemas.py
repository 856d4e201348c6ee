"""The JSON Schemas of commands, derived from the types in ``documents/``.

A schema says the type of each field, and the texts below the fields and classes are its descriptions. It allows further
fields, as a later release may add some.
"""

from __future__ import annotations

import ast
import enum
import inspect
import re
import sys
import types
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

import attrs

from redisson_dq.cli.documents.common import FailureDocument
from redisson_dq.cli.documents.of import Of
from redisson_dq.cli.documents.table import DOCUMENTS, LINES
from redisson_dq.cli.frame import SCHEMA

__all__ = ["Derived", "schema_of", "strict_schema"]

_Schema = dict[str, Any]

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_PLAIN: dict[Any, _Schema] = {
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    str: {"type": "string"},
    timedelta: {"type": "number", "description": "In seconds."},
    # Validators may ignore formats, but not patterns.
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
        self.defs: dict[str, _Schema] = {}

    def of(self, kind: Any) -> _Schema:
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

    def _any_of(self, arguments: Sequence[Any]) -> _Schema:
        parts = [self.of(each) for each in arguments]
        others = [each for each in parts if each != {"type": "null"}]
        if len(others) == 1 and len(parts) == 2 and "type" in others[0]:
            (made,) = others
            choices = {"enum": [*made["enum"], None]} if "enum" in made else {}
            return {**made, "type": [made["type"], "null"], **choices}
        kinds = [each["type"] for each in parts if each.keys() == {"type"}]
        return {"type": kinds} if len(kinds) == len(parts) else {"anyOf": parts}

    def _defined(self, kind: Any, mark: Of | None = None) -> _Schema:
        name = kind.__name__ if mark is None else f"{kind.__name__}Row"
        if name not in self.defs:
            # A class may have a field of its own type.
            self.defs[name] = {}
            self.defs[name] = self._object(kind, mark)
        return {"$ref": f"#/$defs/{name}"}

    def _object(self, kind: Any, mark: Of | None) -> _Schema:
        fields = _types_of(kind)
        if mark is not None:
            fields |= {name: _type_of_property(kind, name) for name in mark.properties} | mark.types
        texts = _texts_of(kind)
        # If no field has its own text, the class describes its fields.
        text = _docstring_of(kind)
        told = _first_part(text) if texts else _all_parts(text)
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


def _described(schema: _Schema, text: str | None) -> _Schema:
    if text is None:
        return schema
    return {**schema, "description": f"{text} {schema['description']}" if "description" in schema else text}


# -- the texts -------------------------------------------------------------------------------------------------------


def _docstring_of(kind: Any) -> str:
    """The docstring, which a Python that optimizes leaves out of the class."""
    node = _classes_of(kind.__module__).get(kind.__name__)
    return (ast.get_docstring(node) or "") if node is not None else ""


def _first_part(text: str) -> str:
    """The first paragraph of a docstring, on one line and in JSON's words."""
    line = " ".join(inspect.cleandoc(text).partition("\n\n")[0].replace("``", "").split())
    return re.sub(r"\bNone\b", "null", line)


def _all_parts(text: str) -> str:
    """A docstring without its examples, on one line."""
    parts = [each for each in inspect.cleandoc(text).split("\n\n") if ">>>" not in each]
    return " ".join(map(_first_part, parts))


def _texts_of(kind: Any) -> dict[str, str]:
    """The texts below the fields of a class and of its base classes."""
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
    fields = {
        field.lineno: field.target.id
        for field in node.body
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
    }
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
    """The classes of a module in its source. Without the source, schemas have no texts."""
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except OSError:
        return {}
    return {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}


# -- the documents ---------------------------------------------------------------------------------------------------


def schema_of(command: str) -> _Schema:
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
        "title": f"redisson-dq {command} --json",
        "description": how_many,
        "anyOf": references,
        "$defs": derived.defs,
    }


def strict_schema(schema: Any) -> Any:
    """The schema, which allows no other fields than those that it names. Where it names none, any may be there."""
    if isinstance(schema, list):
        return [strict_schema(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    closed = {"additionalProperties": False} if isinstance(schema.get("required"), list) else {}
    return {**{name: strict_schema(each) for name, each in schema.items()}, **closed}
