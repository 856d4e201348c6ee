"""The reader of one value: finds the class of a node and the module that reads it."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from typing import Any

from redisson_dq import java
from redisson_dq.codecs.faults import MAX_DEPTH, TOO_DEEP, Malformed, shorten, type_name
from redisson_dq.codecs.floats import double_text, float_text
from redisson_dq.codecs.hashes import Hashes
from redisson_dq.codecs.jackson.enums import constant_of
from redisson_dq.codecs.jackson.node import CLASS, Number, Object, Typed, array_node, class_of, object_node
from redisson_dq.codecs.jackson.reading import containers, objects
from redisson_dq.codecs.jackson.reading.doubts import Doubt, Doubts
from redisson_dq.codecs.jackson.reading.plans import UNREAD, Plans
from redisson_dq.codecs.jackson.reading.undeclared import java_object, names_a_class
from redisson_dq.codecs.jackson.refusals import no_name, other_typing, unknown, wrong, wrong_time
from redisson_dq.codecs.jackson.scalar_values import SCALARS
from redisson_dq.codecs.jackson.text_numbers import natural_number, node_of_text, text_of
from redisson_dq.codecs.jackson.throwables import DECLARED
from redisson_dq.codecs.jackson.types import HELD, REFERENCES, element_of, held_by, key_and_value_of
from redisson_dq.java.assignable import value_is_assignable
from redisson_dq.java.collections import COLLECTIONS
from redisson_dq.java.numbers import INT_MAX, INT_MIN
from redisson_dq.java.registry import declaration_of
from redisson_dq.java.signatures import OBJECT, Signature
from redisson_dq.java.views import view_of

__all__ = ["Reader"]


#: The value that null becomes in a place of a primitive type.
_NULLS: dict[str, Callable[[], Any]] = {
    **dict.fromkeys(("byte", "short", "int", "long"), int),
    **dict.fromkeys(("float", "double"), float),
    "boolean": bool,
    "char": lambda: "\0",
}

#: The class that Jackson makes for a declared interface if no class is named.
_INTERFACES = {
    **dict.fromkeys(("Collection", "List"), "java.util.ArrayList"),
    "Set": "java.util.HashSet",
    "Map": "java.util.LinkedHashMap",
    **dict.fromkeys(("SortedSet", "NavigableSet"), "java.util.TreeSet"),
    **dict.fromkeys(("SortedMap", "NavigableMap"), "java.util.TreeMap"),
    **dict.fromkeys(("Queue", "Deque"), "java.util.LinkedList"),
    "concurrent.ConcurrentMap": "java.util.concurrent.ConcurrentHashMap",
}
_NUMBER = "java.lang.Number"
#: A value that is declared as one of these is treated as if it were declared as Object.
_NATURAL = frozenset((_NUMBER, "java.lang.CharSequence", "java.lang.Comparable", "java.io.Serializable"))
#: All JDKs write a float of at most this many characters alike.
_SAME_DIGITS = 8
#: A float of few characters in Java's form.
_SHORT_FLOAT = re.compile(r"-?(?:0\.0|0\.0{0,2}[1-9](?:[0-9]*[1-9])?|[1-9][0-9]*\.(?:0|[0-9]*[1-9]))")
_FLOATS = frozenset(("float", "java.lang.Float"))
#: The values with only one form. A value of another class may be written in another form than it was read in.
_ONE_FORM = frozenset(
    (
        *("boolean", "byte", "short", "int", "long", "char", "[B", "[C"),
        *(f"java.lang.{name}" for name in ("Boolean", "Byte", "Short", "Integer", "Long", "Character", "String")),
    )
)
#: The classes whose values do not carry the name of their class.
_UNNAMED = frozenset(f"java.lang.{name}" for name in ("String", "Integer", "Double", "Boolean"))
_TIMES = ("java.time.", "java.sql.", "java.util.Date")
_PROPERTIES = "java.util.Properties"
#: The nodes that contain others.
_SHAPES = frozenset((list, Object, Typed))
_ENUMS = re.compile(r"java\.util\.Enum(?:(Set)<([^<>,]+)>|Map<([^<>,]+),[^<>,]+>)")


class Reader:
    """The state of reading one value.

    ``is_json``: the format is JSON, where bytes are texts. ``is_compared``: the value is compared with its bytes in any
    case, so some doubts need no check.
    """

    #: Whether the field being read belongs to an exception's own class.
    is_own = False

    def __init__(self, plans: Plans, *, is_json: bool, is_compared: bool) -> None:
        self.plans = plans
        self.dialect = plans.dialect
        self.is_json = is_json
        self.is_compared = is_compared
        self.doubts = Doubts()
        #: By ``@id``, in hexadecimal: the exceptions read so far. The bytes choose the id, so an int as key could be
        #: made to collide.
        self.throwables: dict[str, Any] = {}
        self.hashes = Hashes()
        #: Smile repeats a key in one byte, so all occurrences share one object.
        self.keys: dict[tuple[str, str], Any] = {}

    def value(self, node: Any) -> Any:
        """The value of the outermost node. Raises Malformed. O(size)."""
        plan = self.plans.outermost
        found = plan.read(self, node, 1)
        if found is UNREAD:
            found = self.read(node, plan.declared, 1)
            if type(found) in self.dialect.bare and type(node) in _SHAPES:
                self.doubts.note(Doubt.OUTERMOST)
        return found

    def read(self, node: Any, declared: Signature, depth: int) -> Any:
        """The value of a node in a place of the type ``declared``."""
        if node is None:
            return self._null(declared, depth)
        kind = type(node)
        if declared is OBJECT and kind not in _SHAPES:
            return self.number(node)
        if kind is Typed and (declared.name not in REFERENCES or node.name == declared.name):
            if node.name in _UNNAMED:
                self.doubts.note(Doubt.NAMED_OTHERWISE)
            return _fitting(self.of_class(node.name, node.content, declared, depth), declared)
        if declared.name in REFERENCES:
            self.doubts.note(Doubt.NAMED_IN_REFERENCE, declared.name)
            return REFERENCES[declared.name](self.read(node, held_by(declared), depth))
        if not self.dialect.names(declared):
            # Redisson 4.3 names the class of a UUID, and Java does in an array of lists of UUIDs.
            if kind is list and len(node) == 2 and node[0] == declared.name and declared.name in SCALARS:
                self.doubts.note(Doubt.NAMED_NEEDLESSLY, declared.name)
                node = node[1]
            name = class_of(node)[0] if kind is Object else None
            declaration = declaration_of(name or "")
            if declaration is not None and self.dialect.names_object(declaration, declared):
                return _fitting(self.of_class(declaration.name, class_of(node)[1], declared, depth), declared)
            if declaration is not None and not self.dialect.typed and declared is not OBJECT:
                raise other_typing(declaration.name, wrapped=False)
            return self.declared_as(node, declared, depth)
        nameless = self.dialect.generic and depth > 1
        if kind is list:
            if len(node) == 2 and type(node[0]) is str and not (nameless and not names_a_class(node[0])):
                if type(node[1]) is Object and not self.dialect.wraps:
                    raise other_typing(node[0], wrapped=True)
                if node[0] in _UNNAMED:
                    self.doubts.note(Doubt.NAMED_OTHERWISE)
                return _fitting(self.of_class(node[0], node[1], declared, depth), declared)
            if nameless:
                return java_object(self, "", node, depth)
            raise Malformed(no_name("an array without the name of its Java type", declared, self.is_own))
        if kind is Object:
            name, fields = class_of(node)
            if name is not None:
                if self.dialect.wraps:
                    raise other_typing(name, wrapped=False)
                if node[0][0] != CLASS:
                    self.doubts.note(Doubt.LATE_CLASS, name)
                return _fitting(self.of_class(name, fields, declared, depth), declared)
            if nameless:
                return java_object(self, "", node, depth)
            raise Malformed(no_name("an object without @class", declared, self.is_own))
        if declared.name == DECLARED["cause"].name and kind is int:
            return objects.same_throwable(self, node)
        if declared.name in SCALARS or declaration_of(declared.name) is not None:
            self.doubts.note(Doubt.NOT_NAMED, declared.name)
            return self.declared_as(node, declared, depth)
        return _fitting(self.number(node), declared)

    # As methods, they need no further stack frame for each level of nesting.
    fields = objects.fields
    elements = objects.elements

    def _null(self, declared: Signature, depth: int) -> Any:
        if declared.name in REFERENCES:
            self.doubts.note(Doubt.NULL_REFERENCE, declared.name)
            # As in Java, an Optional of Optionals contains an empty one.
            made = REFERENCES[declared.name]
            return made() if declared.name in HELD else made(self.read(None, held_by(declared), depth))
        null = _NULLS.get(declared.name)
        if null is None:
            return None
        self.doubts.note(Doubt.NULL_PRIMITIVE, declared.name)
        return null()

    def number(self, node: Any) -> Any:
        """A scalar node without a class, unchanged, except that a number with a point is a Double."""
        kind = type(node)
        if kind is not Number:
            if kind is int and not INT_MIN <= node <= INT_MAX:
                self.doubts.note(Doubt.BIG_NUMBER)
            return node
        value = float(node)
        self._check_digits(node, value)
        return value

    def _check_digits(self, node: Number, value: float, text: Callable[[float], str] = double_text) -> None:
        """Note a float in another form. JDKs before 19 write more digits, but not for short floats."""
        if text is double_text:
            is_same = (repr(value) == node and (1e-3 <= abs(value) < 1e7 or not value)) or text(value) == node
        else:
            is_same = (len(node) <= _SAME_DIGITS and _SHORT_FLOAT.fullmatch(node) is not None) or text(value) == node
        if not is_same:
            self.doubts.note(Doubt.FLOAT, shorten(node, 40), text(value))

    def declared_as(self, node: Any, declared: Signature, depth: int) -> Any:
        """The value of a node without the name of its class."""
        name = declared.name
        if name == OBJECT.name:
            return containers.without_class(self, node, depth)
        if name in _NATURAL:
            if name == _NUMBER and type(node) is str:  # Java reads the number in it
                self.doubts.note(Doubt.SCALAR, node, name)
                node = natural_number(node)
            return _fitting(containers.without_class(self, node, depth), declared)
        if name.startswith("java.util."):
            name = _INTERFACES.get(name[len("java.util.") :], name)
            if name == "java.util.EnumSet":
                name = f"{name}<{element_of(declared).name}>"
            elif name == "java.util.EnumMap":
                name = f"{name}<{key_and_value_of(declared)[0].name},java.lang.Object>"
        elif name == "java.lang.Iterable":
            name = "java.util.ArrayList"
        return self.of_class(name, node, declared, depth)

    def of_class(self, name: str, node: Any, declared: Signature, depth: int) -> Any:
        """The value of a node whose class is known."""
        scalar = SCALARS.get(name)
        if scalar is not None:
            if declared.as_text or name in self.dialect.as_text:
                return self._number_in_text(name, node, scalar)
            is_time = type(node) is str and name.startswith(_TIMES)
            value = self._time(name, node, declared, scalar) if is_time else scalar(node)
            if value is None:
                raise wrong(name, node)
            if name == "[B" and type(node) is str:
                if not self.is_json or base64.b64encode(value).decode() != node:
                    self.doubts.note(Doubt.BYTES)
            elif type(node) is Number and isinstance(value, float):
                self._check_digits(node, value, float_text if name in _FLOATS else double_text)
            elif name not in _ONE_FORM:
                self.doubts.note(Doubt.SCALAR, node, name)
            return value
        if name == OBJECT.name:
            self.doubts.note(Doubt.OBJECT)
            return containers.without_class(self, node, depth)
        if depth > MAX_DEPTH:
            raise Malformed(TOO_DEEP)
        kind = COLLECTIONS.get(name)
        # The parts are read without a function in between, so that values can nest as deep as Python's stack allows.
        if kind is not None:
            if issubclass(kind, dict):
                declared_key, declared_value = key_and_value_of(declared)
                read = containers.property_text if name == _PROPERTIES else None
                pairs = containers.entries(self, object_node(name, node), declared_key, declared_value, depth, read)
                return containers.map_of_entries(self, name, kind, declared_key, pairs)
            items = containers.items(self, array_node(name, node), element_of(declared), depth)
            return containers.collection_of_items(self, name, kind, items)
        declaration = declaration_of(name)
        if declaration is not None:
            if declaration.extends:
                return objects.subclass_of_collection(self, declaration, node, declared, depth)
            if declaration.kind == "enum":
                if type(node) is list:
                    self.doubts.note(Doubt.NAMED_CONSTANT, name)
                return constant_of(declaration, node, self.dialect.jackson_3)
            return self.fields(objects.plan_of(self, declaration, node, declared), node, depth)
        if name.startswith("["):
            return containers.array(self, name, node, declared, depth)
        return self._of_other_class(name, node, declared, depth)

    def _number_in_text(self, name: str, node: Any, scalar: Callable[[Any], Any]) -> Any:
        """The number in a place whose numbers are written as texts. Java also reads a number there."""
        value = scalar(node_of_text(node, name) if type(node) is str else node)
        if value is None:
            raise wrong(name)
        if type(node) is not str or text_of(value) != node:
            self.doubts.note(Doubt.SCALAR, node, name)
        return value

    def _time(self, name: str, text: str, declared: Signature, scalar: Callable[[Any], Any]) -> Any:
        """The date or time in a text, by the pattern of its place if there is one."""
        pattern = self.dialect.pattern_of(name, declared)
        if pattern is None:
            value = scalar(text)
        else:
            try:
                value = pattern.read(text, name, self.dialect.time_zone)
            except ValueError:
                value = None
        if value is None:
            raise wrong_time(name, text, pattern)
        return value

    def _of_other_class(self, name: str, node: Any, declared: Signature, depth: int) -> Any:
        """The value of a node whose class is neither in the tables nor declared."""
        enums = _ENUMS.fullmatch(name)
        if enums is not None:
            is_set, element, key = enums.groups()
            declaration = declaration_of(element or key)
            if declaration is not None and declaration.kind == "enum":
                return containers.enum_collection(self, name, declaration, bool(is_set), node, declared, depth)
            if self.dialect.generic:
                return java_object(self, name, node, depth)
            raise unknown(element or key)
        if name.startswith("sun.nio.cs.") and type(node) is str:
            self.doubts.note(Doubt.CHARSET, name)
            return java.Charset(node)
        viewed = containers.viewed_class(name)
        if viewed:
            self.doubts.note(Doubt.OTHER_CLASS, name)
            return view_of(name, self.of_class(viewed, node, declared, depth))
        if objects.is_exception(self, node):
            self.doubts.note(Doubt.OTHER_CLASS, name)
            return objects.throwable(self, name, node, depth)
        if name in HELD:
            self.doubts.note(Doubt.OTHER_CLASS, name)
            return self.read(node, Signature(name), depth)
        if self.dialect.generic and names_a_class(name):
            return java_object(self, name, node, depth)
        raise unknown(name)


def _fitting(value: Any, declared: Signature) -> Any:
    """A value whose class was in the bytes. Raises Malformed if that class does not fit the declared type."""
    if declared is not OBJECT and declared.variable is None and not value_is_assignable(value, declared.name):
        raise Malformed(f"{type_name(value)} where {declared.name} is declared", near=declared.name)
    return value
