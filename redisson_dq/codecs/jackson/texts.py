"""The JSON of ordinary values, written directly, without a tree of nodes, by a function for each declared class.

Ordinary values are declared classes, lists, dicts with texts as keys, texts, bools, enums and the usual numbers, in
places where they do not carry their class. Any other part of a value is written by way of nodes. If a part cannot be
written, the whole value is written again by way of nodes, which raises the error. So bytes and errors are the same
without this module.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from json.encoder import encode_basestring_ascii
from typing import Any

from redisson_dq.codecs.faults import MAX_DEPTH
from redisson_dq.codecs.floats import double_text
from redisson_dq.codecs.jackson.dialect import Dialect
from redisson_dq.codecs.jackson.enums import constants, why_no_constants
from redisson_dq.codecs.jackson.json import has_half_pair
from redisson_dq.codecs.jackson.node import CLASS
from redisson_dq.codecs.jackson.types import (
    REFERENCES,
    element_of,
    json_of,
    key_and_value_of,
)
from redisson_dq.codecs.jackson.writing.containers import collection_name
from redisson_dq.codecs.jackson.writing.dispatch import Writer
from redisson_dq.codecs.straight import Unusual, attribute_of, compiled
from redisson_dq.java.arrays import PRIMITIVE_CODES
from redisson_dq.java.declaration import Declaration
from redisson_dq.java.facts import NO_NULLS
from redisson_dq.java.generics import arguments_in
from redisson_dq.java.hierarchy import holds
from redisson_dq.java.numbers import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN, Long
from redisson_dq.java.places import place_of
from redisson_dq.java.registry import declaration_for, generation
from redisson_dq.java.signatures import Signature

__all__ = ["SHORTCUTS", "Texts"]

#: Writes the text of a value at a depth. Raises Unusual.
_Put = Callable[[Any, int], str]

#: By Java type of a field: the code that makes the ``text`` of an ordinary ``item``. ``else`` follows.
SHORTCUTS: dict[str, str] = {
    "java.lang.String": """
if type(item) is str:
    text = escaped(item)
    if len(text) != len(item) + 2:
        text = quoted(item)
""",
    "double": """
if type(item) is float and 1e-3 <= item < 1e7:
    text = float_repr(item)
""",
    "int": f"""
if type(item) is int and {INT_MIN} <= item <= {INT_MAX}:
    text = int_repr(item)
""",
    "boolean": """
if type(item) is bool:
    text = "true" if item else "false"
""",
}
for _name, _boxed in (("int", "Integer"), ("double", "Double"), ("boolean", "Boolean")):
    SHORTCUTS[f"java.lang.{_boxed}"] = SHORTCUTS[_name]

#: The types whose values are written here if the declared type can hold all of them unchanged.
_SCALARS = frozenset((str, bool, float))
_NULL = type(None)
_LONG = "java.lang.Long"


class Texts:
    """The functions of one codec. They are valid until another class is declared, which may have the same name as a
    known one.

    ``quoted`` writes a text, ``dumps`` the text of a node.
    """

    def __init__(
        self, dialect: Dialect, declared: Signature, quoted: Callable[[str], str], dumps: Callable[[Any], bytes]
    ) -> None:
        self.generation = generation()
        self._dialect = dialect
        self._quoted = quoted
        self._dumps = dumps
        self._by_declared: dict[Signature, Callable[[Any], _Put]] = {}
        self._classes: dict[tuple[Declaration, tuple[Signature, ...], bool], _Put] = {}
        self._find = self._of(declared)

    def written(self, value: Any) -> bytes | None:
        """The bytes of a whole value. None if it has to be written by way of nodes, which also raise the error if it is
        wrong."""
        kind = type(value)
        if kind is not list and kind is not dict and declaration_for(kind) is None:
            return None
        try:
            return self._find(value)(value, 1).encode()
        except Exception:
            return None

    def _of(self, declared: Signature) -> Callable[[Any], _Put]:
        """By the type of a value: the function that writes it in a place of the type ``declared``."""
        found = self._by_declared.get(declared)
        if found is None:
            by_type: dict[type, _Put] = {}

            def find(item: Any) -> _Put:
                kind = type(item)
                put = by_type.get(kind)
                if put is None:
                    put = by_type[kind] = self._resolved(item, declared)
                return put

            self._by_declared[declared] = found = find
        return found

    def _over_nodes(self, declared: Signature) -> _Put:
        def put(item: Any, depth: int) -> str:
            writer = Writer(self._dialect)
            node = writer.write(item, declared, depth)
            if writer.throwables:  # exceptions are numbered over the whole value
                raise Unusual
            return self._dumps(node).decode()

        return put

    def _resolved(self, item: Any, declared: Signature) -> _Put:
        """The function for all values of the same type as this one in a place of the type ``declared``."""
        kind = type(item)
        general = self._over_nodes(declared)
        name = declared.name
        if kind is _NULL:
            return general if name in PRIMITIVE_CODES else lambda _item, _depth: "null"
        if name in REFERENCES or name[0] == "[" or self._dialect.is_text(declared):
            return general
        if (kind is int or kind is Long) and not self._dialect.as_text:
            return self._number(kind, declared, general)
        place = place_of(declared)
        is_exact = place is None or kind in place.exact
        if not is_exact and (kind in _SCALARS or name in PRIMITIVE_CODES or not holds(name, item)):
            return general
        if kind is str:
            return self._text
        if kind is bool:
            return lambda item, _depth: "true" if item else "false"
        if kind is float:
            return lambda item, depth: double_text(item) if item - item == 0 else general(item, depth)
        if kind is list or kind is dict:
            java_name = collection_name(item, declared)
            if java_name in NO_NULLS:
                return general
            return (self._list if kind is list else self._dict)(declared, java_name, general)
        declaration = declaration_for(kind)
        if declaration is None or kind in self._dialect.scalars:
            return general
        if isinstance(item, Enum):
            return self._enum(declaration, declared)
        return general if declaration.extends else self._class(declaration, declared, general)

    def _text(self, item: str, _depth: int) -> str:
        text = encode_basestring_ascii(item)
        return text if len(text) == len(item) + 2 else self._quoted(item)

    def _name(self, key: str) -> str:
        text = encode_basestring_ascii(key)
        if len(text) == len(key) + 2:
            return text
        if has_half_pair(key):
            raise Unusual
        return self._quoted(key)

    def _number(self, kind: type, declared: Signature, general: _Put) -> _Put:
        """The function for an int or a Long."""
        name, is_int = declared.name, kind is int
        if name == _LONG or (kind is Long and place_of(declared) is None):
            head, tail = (f"[{self._quoted(_LONG)},", "]") if self._dialect.names(declared) else ("", "")
            return lambda item, depth: (
                f"{head}{int.__repr__(item)}{tail}" if LONG_MIN <= item <= LONG_MAX else general(item, depth)
            )
        if is_int and (name in ("int", "long", "java.lang.Integer") or place_of(declared) is None):
            least, most = (LONG_MIN, LONG_MAX) if name == "long" else (INT_MIN, INT_MAX)
            return lambda item, depth: int.__repr__(item) if least <= item <= most else general(item, depth)
        return general

    def _enum(self, declaration: Declaration, declared: Signature) -> _Put:
        if why_no_constants(declaration, self._dialect.jackson_3):
            return self._over_nodes(declared)
        named = self._dialect.names(declared)
        head, tail = (f"[{self._quoted(declaration.name)},", "]") if named else ("", "")
        names = constants(declaration, self._dialect.jackson_3)[0]
        texts = {
            member: f"{head}{name if type(name) is int else self._quoted(str(name))}{tail}"
            for member, name in names.items()
        }
        return lambda item, _depth: texts[item.name]

    def _list(self, declared: Signature, java_name: str, general: _Put) -> _Put:
        head, tail = (f"[{self._quoted(java_name)},[", "]]") if self._dialect.names(declared) else ("[", "]")
        element = element_of(declared)
        find = self._of(element)
        of_texts = place_of(element) is None or element.name == "java.lang.String"
        nothing = head + tail

        def put(items: list[Any], depth: int) -> str:
            if depth > MAX_DEPTH:
                raise Unusual
            if not items:
                return nothing
            if of_texts and set(map(type, items)) == _STR:
                whole = "".join(items)
                if len(encode_basestring_ascii(whole)) == len(whole) + 2:
                    return f'{head}"{_BETWEEN.join(items)}"{tail}'
            below = depth + 1
            return f"{head}{','.join([find(item)(item, below) for item in items])}{tail}"

        return put

    def _dict(self, declared: Signature, java_name: str, general: _Put) -> _Put:
        head = f'{{"{CLASS}":{self._quoted(java_name)}' if self._dialect.names(declared) else ""
        declared_key, declared_value = key_and_value_of(declared)
        key_place = place_of(declared_key)
        find, name_of = self._of(declared_value), self._name
        of_texts = key_place is None or str in key_place.exact

        def put(items: dict[Any, Any], depth: int) -> str:
            if depth > MAX_DEPTH:
                raise Unusual
            if not items:
                return f"{head}}}" if head else "{}"
            if not of_texts or set(map(type, items)) != _STR:
                return general(items, depth)
            below = depth + 1
            pairs = ",".join([f"{name_of(key)}:{find(item)(item, below)}" for key, item in items.items()])
            return f"{head},{pairs}}}" if head else f"{{{pairs}}}"

        return put

    # Declared classes

    def _class(self, declaration: Declaration, declared: Signature, general: _Put) -> _Put:
        arguments = arguments_in(declaration, declared)
        is_refused = json_of(declaration, self._dialect.jackson_3).refused or self._dialect.refuses_objects(declared)
        if arguments is None or is_refused:
            return general
        key = declaration, arguments, self._dialect.names_object(declaration, declared)
        put = self._classes.get(key)
        if put is None:
            # While the function is being made, objects of the class itself are written by way of nodes.
            self._classes[key] = lambda item, depth: self._classes[key](item, depth)
            put = self._classes[key] = self._compiled(*key)
        return put

    def _compiled(self, declaration: Declaration, arguments: tuple[Signature, ...], named: bool) -> _Put:
        names: dict[str, Any] = {
            **_KNOWN,
            "quoted": self._quoted,
            "head": f'{{"{CLASS}":{self._quoted(declaration.name)}',
        }
        lines = [
            "def put(value, depth):",
            "    if depth > MAX_DEPTH:",
            "        raise Unusual",
            "    below = depth + 1",
        ]
        found = self._dialect.properties(declaration, arguments).values()
        for number, field in enumerate(found):
            declared = field.type
            names[f"name_{number}"] = f",{self._quoted(field.name)}:"
            names[f"find_{number}"] = self._of(declared)
            rest = [f"    text = find_{number}(item)(item, below)"]
            shortcut = [] if self._dialect.is_text(declared) else SHORTCUTS.get(declared.name, "").strip().splitlines()
            if field.is_written or self._dialect.nulls:
                body = [*shortcut, "else:", *rest] if shortcut else [line.strip() for line in rest]
                body += [f"text_{number} = name_{number} + text"]
            else:
                body = ["if item is None:", f"    text_{number} = ''", "else:"]
                rest = [*shortcut, "else:", *rest] if shortcut else [line.strip() for line in rest]
                body += ["    " + line for line in (*rest, f"text_{number} = name_{number} + text")]
            lines += [f"    item = {attribute_of('value', field.attribute)}", *("    " + line for line in body)]
        texts = "".join(f"{{text_{number}}}" for number in range(len(found)))
        if named:
            lines += [f"    return f'{{head}}{texts}}}}}'"]
        else:
            lines += [f"    texts = f'{texts}'", "    return f'{{{texts[1:]}}}'"]
        put: _Put = compiled(lines, names, "put", declaration.name)
        return put


_STR = {str}
_BETWEEN = '","'
_KNOWN: dict[str, Any] = {
    "MAX_DEPTH": MAX_DEPTH,
    "Unusual": Unusual,
    "escaped": encode_basestring_ascii,
    "float_repr": float.__repr__,
    "int_repr": int.__repr__,
}
