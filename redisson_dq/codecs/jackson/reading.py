"""From nodes to values: the parsed tree of a format, with the names of classes that Redisson's Jackson writes.

Nothing is looked up by name but the tables below and the declared classes; any other class is refused, and named.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Iterable
from decimal import Decimal
from enum import Enum
from operator import itemgetter
from typing import Any

from redisson_dq import java
from redisson_dq.codecs.faults import MAX_DEPTH, TOO_DEEP, Malformed, shorten, type_name
from redisson_dq.codecs.floats import double_text, float_text
from redisson_dq.codecs.hashes import Hashes
from redisson_dq.codecs.jackson.enums import constant_of
from redisson_dq.codecs.jackson.keys import map_key
from redisson_dq.codecs.jackson.node import CLASS, Number, Object, Typed, array_node, class_of, object_node
from redisson_dq.codecs.jackson.plans import UNREAD, ClassPlan, Plan, Plans
from redisson_dq.codecs.jackson.refusals import no_name, unknown, wrong
from redisson_dq.codecs.jackson.scalar_values import SCALARS
from redisson_dq.codecs.jackson.throwables import SLOTS, STACK_TRACE, made_of, read_trace
from redisson_dq.codecs.jackson.types import (
    HELD,
    REFERENCES,
    component_slot,
    element_of,
    held_by,
    json_of,
    key_and_value_of,
    parts_of,
)
from redisson_dq.java.arrays import array_of, component_of
from redisson_dq.java.collections import COLLECTIONS, map_of, set_of
from redisson_dq.java.declaration import Declaration
from redisson_dq.java.generics import arguments_in, not_related
from redisson_dq.java.lists import ListOf
from redisson_dq.java.numbers import INT_MAX, INT_MIN, LONG_MAX, LONG_MIN
from redisson_dq.java.places import may_be_assignable
from redisson_dq.java.registry import declaration_of
from redisson_dq.java.signatures import OBJECT, Signature
from redisson_dq.java.views import view_of

__all__ = ["Reader"]


#: What null is where these are declared.
_NULLS: dict[str, Callable[[], Any]] = {
    **dict.fromkeys(("byte", "short", "int", "long"), int),
    **dict.fromkeys(("float", "double"), float),
    "boolean": bool,
    "char": lambda: "\0",
}

#: What holds the elements of a declared interface where no class is named.
_INTERFACES = {
    **dict.fromkeys(("Collection", "List"), "java.util.ArrayList"),
    "Set": "java.util.HashSet",
    "Map": "java.util.LinkedHashMap",
    **dict.fromkeys(("SortedSet", "NavigableSet"), "java.util.TreeSet"),
    **dict.fromkeys(("SortedMap", "NavigableMap"), "java.util.TreeMap"),
    **dict.fromkeys(("Queue", "Deque"), "java.util.LinkedList"),
    "concurrent.ConcurrentMap": "java.util.concurrent.ConcurrentHashMap",
}
#: The characters of a float that every JDK writes alike.
_SAME_DIGITS = 8
_FLOATS = frozenset(("float", "java.lang.Float"))
#: The values with one form only. Those of other classes may be written in another form than they were read in.
_ONE_FORM = frozenset(
    (
        *("boolean", "byte", "short", "int", "long", "char", "[B", "[C"),
        *(f"java.lang.{name}" for name in ("Boolean", "Byte", "Short", "Integer", "Long", "Character", "String")),
    )
)
_FIRST = itemgetter(0)
#: What Java reads in Properties, where texts stand, of other values.
_PROPERTIES = "java.util.Properties"
_TEXT_OF: dict[type, Callable[[Any], str]] = {
    bool: lambda value: "true" if value else "false",
    int: str,
    float: double_text,
}
#: A float of few characters in Java's form.
_SHORT_FLOAT = re.compile(r"-?(?:0\.0|0\.0{0,2}[1-9](?:[0-9]*[1-9])?|[1-9][0-9]*\.(?:0|[0-9]*[1-9]))")
_PLAIN_ARRAYS = frozenset(("[I", "[J", "[S", "[Z", "[D", "[F", "[Ljava.lang.String;"))
#: The classes whose values stand without them.
_BARE = frozenset(f"java.lang.{name}" for name in ("String", "Integer", "Double", "Boolean"))
_TWICE = "a map has two entries with one key"
_NAMED = "the class of some value stands in another way"
#: The nodes that hold others.
_SHAPES = frozenset((list, Object, Typed))
_NATURAL = frozenset(("java.lang.Number", "java.lang.CharSequence", "java.lang.Comparable", "java.io.Serializable"))
_DECIMAL = re.compile(r"-?[0-9]+\.[0-9]+")
#: How the name of a class in a package begins; of two texts in an array the first is one, or it is a text.
_CLASS_NAME = re.compile(r"\[|[^\W\d][\w$]*\.[^\W\d]")
_VIEW = re.compile(
    r"java\.util\.Collections\$(?:Unmodifiable|Synchronized)"
    r"(?:(Collection|List|RandomAccessList)|((?:Sorted|Navigable)?Set)|((?:Sorted|Navigable)?Map))"
)
_ENUMS = re.compile(r"java\.util\.Enum(?:(Set)<([^<>,]+)>|Map<([^<>,]+),[^<>,]+>)")


def _property(value: Any) -> Any:
    text_of = _TEXT_OF.get(type(value))
    return value if text_of is None else text_of(value)


class Reader:
    """What is known while one value is read."""

    #: Why the value may be written to other bytes. Empty if all that was read has one form only.
    doubt = ""
    #: Why it is written to other bytes, which needs no comparison.
    other = ""
    #: Whether it is compared in any case.
    is_compared = False
    #: Whether the format is JSON, where bytes stand as texts.
    is_json = False
    #: Whether a field is read that an exception has of its own class.
    _is_own = False

    def __init__(self, plans: Plans) -> None:
        self._plans = plans
        self._dialect = plans.dialect
        self._throwables: dict[int, Any] = {}
        self._hashes = Hashes()
        #: Smile names a key again in a byte, so there is one object for all its places.
        self._keys: dict[tuple[str, str], Any] = {}

    def whole(self, node: Any) -> Any:
        """The value of a whole node. Raises Malformed. O(size)."""
        whole = self._plans.whole
        value = whole.read(self, node, 1)
        if value is UNREAD:
            value = self.read(node, whole.slot, 1)
            if type(value) in self._dialect.bare and type(node) in _SHAPES:
                self.doubt = "as the whole value some numbers and texts stand without their class"
        return value

    def read(self, node: Any, slot: Signature, depth: int) -> Any:
        """The value of a node that is declared as ``slot``."""
        if node is None:
            if slot.name in REFERENCES:
                self.doubt = f"null stands for an empty {slot.name}"
                # As Java's: in an Optional of Optionals stands an empty one.
                made = REFERENCES[slot.name]
                return made() if slot.name in HELD else made(self.read(None, held_by(slot), depth))
            null = _NULLS.get(slot.name)
            if null is None:
                return None
            self.doubt = f"null stands where a {slot.name} is declared"
            return null()
        kind = type(node)
        if slot is OBJECT and kind not in _SHAPES:
            return self.number(node)
        if kind is Typed and (slot.name not in REFERENCES or node.name == slot.name):
            if node.name in _BARE:
                self.doubt = _NAMED
            return _fitting(self._of_class(node.name, node.content, slot, depth), slot)
        if slot.name in REFERENCES:
            self.doubt = f"what a {slot.name} holds may stand with the name of its class or without"
            return REFERENCES[slot.name](self.read(node, held_by(slot), depth))
        if not self._dialect.names(slot):
            # Redisson 4.3 names the class of a UUID, and Java those in an array of lists of them.
            if kind is list and len(node) == 2 and node[0] == slot.name and slot.name in SCALARS:
                self.doubt = f"the class {shorten(slot.name, 80)} stands where it is declared, and is left out"
                node = node[1]
            declaration = declaration_of(class_of(node)[0] or "") if kind is Object else None
            if declaration is not None and self._dialect.names_object(declaration, slot):
                return _fitting(self._of_class(declaration.name, class_of(node)[1], slot, depth), slot)
            return self._declared_as(node, slot, depth)
        nameless = self._dialect.generic and depth > 1
        if kind is list:
            if len(node) == 2 and type(node[0]) is str and not (nameless and _CLASS_NAME.match(node[0]) is None):
                if node[0] in _BARE or type(node[1]) is Object:
                    self.doubt = _NAMED
                return _fitting(self._of_class(node[0], node[1], slot, depth), slot)
            if nameless:
                return self._java_object("", node, depth)
            raise Malformed(no_name("an array without the name of its Java type", slot, self._is_own))
        if kind is Object:
            name, fields = class_of(node)
            if name is not None:
                if node[0][0] != CLASS:
                    self.doubt = _NAMED
                return _fitting(self._of_class(name, fields, slot, depth), slot)
            if nameless:
                return self._java_object("", node, depth)
            raise Malformed(no_name("an object without @class", slot, self._is_own))
        if slot.name == SLOTS["cause"].name and kind is int:
            return self._same_throwable(node)
        if slot.name in SCALARS or declaration_of(slot.name) is not None:
            self.doubt = f"the class {shorten(slot.name, 80)}, which is written, does not stand before its value"
            return self._declared_as(node, slot, depth)
        return self.number(node)

    def _java_object(self, name: str, node: Any, depth: int) -> java.JavaObject:
        self.doubt = "it has an object of a class that is not declared"
        return java.JavaObject(name, self._generic(node, depth))

    def number(self, node: Any) -> Any:
        """What stands without a class and holds no others, as it is; a number with a point is a Double."""
        kind = type(node)
        if kind is not Number:
            if kind is int and not INT_MIN <= node <= INT_MAX:
                self.doubt = "a number of more than 32 bits stands without its class"
            return node
        value = float(node)
        self._check_digits(node, value)
        return value

    def _check_digits(self, node: Number, value: float, text: Callable[[float], str] = double_text) -> None:
        """Note a float of another form. JDKs before 19 write more digits, but not for those of few characters."""
        if text is double_text:
            is_same = (repr(value) == node and (1e-3 <= abs(value) < 1e7 or not value)) or text(value) == node
        else:
            is_same = (len(node) <= _SAME_DIGITS and _SHORT_FLOAT.fullmatch(node) is not None) or text(value) == node
        if not is_same:
            self.doubt = f"the float {shorten(node, 40)} is written as {text(value)}, as JDK 19 and later do"

    def _declared_as(self, node: Any, slot: Signature, depth: int) -> Any:
        """The value of a node that stands without the name of its class."""
        name = slot.name
        if name == OBJECT.name or name in _NATURAL:
            return self._untyped(node, depth)
        if name.startswith("java.util."):
            name = _INTERFACES.get(name[len("java.util.") :], name)
            if name == "java.util.EnumSet":
                name = f"{name}<{element_of(slot).name}>"
            elif name == "java.util.EnumMap":
                name = f"{name}<{key_and_value_of(slot)[0].name},java.lang.Object>"
        elif name == "java.lang.Iterable":
            name = "java.util.ArrayList"
        return self._of_class(name, node, slot, depth)

    def _untyped(self, node: Any, depth: int) -> Any:
        kind = type(node)
        if kind is list:
            return self._items(node, OBJECT, depth)
        if kind is Object:
            pairs = self._entries(node, OBJECT, OBJECT, depth)
            found = dict(pairs)
            if len(found) != len(pairs):
                self.doubt = _TWICE
            return found
        return self.number(node)

    def _of_class(self, name: str, node: Any, slot: Signature, depth: int) -> Any:
        """The value of a node whose class is known."""
        scalar = SCALARS.get(name)
        if scalar is not None:
            value = scalar(node)
            if value is None:
                raise wrong(name)
            if name == "[B" and type(node) is str:
                if not self.is_json or base64.b64encode(value).decode() != node:
                    self.doubt = "some bytes stand in another form"
            elif type(node) is Number and isinstance(value, float):
                self._check_digits(node, value, float_text if name in _FLOATS else double_text)
            elif name not in _ONE_FORM:
                self.doubt = f"{shorten(str(node), 80)} is written in another form as a {name}"
            return value
        if name == OBJECT.name:
            self.doubt = "an Object is written as the value that is read of it"
            return self._untyped(node, depth)
        if depth > MAX_DEPTH:
            raise Malformed(TOO_DEEP)
        kind = COLLECTIONS.get(name)
        if kind is not None:  # no function in between, to nest as deep as Python's stack allows
            if issubclass(kind, dict):
                key_slot, value_slot = key_and_value_of(slot)
                pairs = self._entries(object_node(name, node), key_slot, value_slot, depth)
                if key_slot is not OBJECT:
                    self._hashes.check([key for key, _ in pairs])
                if name == _PROPERTIES and any(type(item) in _TEXT_OF for _, item in pairs):
                    self.doubt = f"Java reads numbers in {name} as texts"
                    pairs = [
                        (key, _TEXT_OF[type(item)](item) if type(item) in _TEXT_OF else item) for key, item in pairs
                    ]
                # Of two entries with one key, Java keeps the last.
                entries = list(dict(pairs).items())
                if len(entries) != len(pairs):
                    self.doubt = _TWICE
                return map_of(name, kind, entries)
            items = self._items(array_node(name, node), element_of(slot), depth)
            if kind is list:
                return items
            if issubclass(kind, list):
                made = kind(items)
                if isinstance(made, ListOf):
                    made.of_class(name)
                return made
            self._hashes.check(items)
            made_set = set_of(name, kind, items)
            if len(made_set) != len(items):
                self.doubt = "a set has an element twice"
            return made_set
        declaration = declaration_of(name)
        if declaration is not None:
            if declaration.extends:
                return self._collection(declaration, node, slot, depth)
            if declaration.kind == "enum":
                if type(node) is list:
                    self.doubt = f"the class {name} stands before its constant"
                return constant_of(declaration, node, self._dialect.jackson_3)
            return self.fields(self._class_plan(declaration, node, slot), node, depth)
        if name.startswith("["):
            return self._array(name, node, slot, depth)
        return self._other(name, node, slot, depth)

    def _collection(self, declaration: Declaration, node: Any, slot: Signature, depth: int) -> Any:
        """An object of a class that extends a collection."""
        self.doubt = f"the elements of a {declaration.name} may stand with the names of their classes or without"
        why = json_of(declaration, self._dialect.jackson_3).refusal(declaration.name)
        if why:
            raise Malformed(why, near=declaration.name).of_classes((declaration.name,))
        parts, _ = parts_of(declaration, slot, self._dialect.names)
        found = self._of_class(declaration.extends, node, parts, depth)
        try:
            return declaration.collection(found)
        except ValueError as error:
            raise Malformed(str(error), near=declaration.name).of_classes((declaration.name,)) from error

    def _other(self, name: str, node: Any, slot: Signature, depth: int) -> Any:
        self.doubt = f"what stands in a {shorten(name, 80)} may have another form"
        view = _VIEW.fullmatch(name)
        if view is not None:
            is_list, is_set, _ = view.groups()
            inner = "java.util.Tree" if "Sorted" in name or "Navigable" in name else "java.util.LinkedHash"
            inner = "java.util.ArrayList" if is_list else f"{inner}Set" if is_set else f"{inner}Map"
            return view_of(name, self._of_class(inner, node, slot, depth))
        enums = _ENUMS.fullmatch(name)
        if enums is not None:
            is_set, element, key = enums.groups()
            return self._enums(name, element or key, bool(is_set), node, slot, depth)
        if name.startswith("sun.nio.cs.") and type(node) is str:
            self.doubt = f"the class {shorten(name, 80)} is written as java.nio.charset.Charset"
            return java.Charset(node)
        if type(node) is Object and any(key == STACK_TRACE for key, _ in node):
            return self._throwable(name, node, depth)
        if name in HELD:
            return self.read(node, Signature(name), depth)
        if self._dialect.generic and _CLASS_NAME.match(name):
            return self._java_object(name, node, depth)
        raise unknown(name)

    def _enums(self, name: str, element: str, is_set: bool, node: Any, slot: Signature, depth: int) -> Any:
        declaration = declaration_of(element)
        if declaration is None or declaration.kind != "enum":
            if self._dialect.generic:
                return self._java_object(name, node, depth)
            raise unknown(element)
        if is_set:
            members = self._items(array_node(name, node), Signature(element), depth, Reader._declared_as)
            return java.EnumSet(declaration.python, members)
        value_slot = key_and_value_of(slot)[1]
        pairs = self._entries(object_node(name, node), Signature(element), value_slot, depth, Reader._of_enum_map)
        self.doubt = "in an EnumMap Java leaves out classes that are written, and mostly loses them"
        return java.EnumMap(declaration.python, pairs)

    def _of_enum_map(self, node: Any, slot: Signature, depth: int) -> Any:
        """A value of an EnumMap. Its class may stand before it, as the name of the map says Object, not its type."""
        is_named = self._dialect.typed and type(node) is list and len(node) == 2 and node[0] == slot.name
        return self.read(node, OBJECT if is_named else slot, depth)

    def _array(self, name: str, node: Any, slot: Signature, depth: int) -> Any:
        try:
            component = component_of(name)
        except ValueError as error:
            raise unknown(name) from error
        if name not in _PLAIN_ARRAYS:
            self.doubt = f"the elements of a {shorten(name, 80)} may stand with the names of their classes or without"
        return array_of(component, self._items(array_node(name, node), component_slot(name, slot), depth))

    def _class_plan(self, declaration: Declaration, node: Any, slot: Signature) -> ClassPlan:
        arguments = arguments_in(declaration, slot)
        if arguments is None:
            raise Malformed(not_related(declaration, slot), near=declaration.name)
        plan = self._plans.of_class(declaration, arguments)
        object_node(declaration.name, node)  # a class that is refused may stand as another node
        return plan

    def fields(self, plan: ClassPlan, node: Object, depth: int) -> Any:
        """An object of a declared class, of its fields."""
        declaration, known = plan.declaration, plan.fields
        name = declaration.name
        values = {**plan.missing}
        key = ""
        try:
            for key, item in node:
                field = known.get(key)
                if field is not None:
                    attribute, plain, read, slot = field
                    value = item if type(item) is plain else read(self, item, depth + 1)
                    if value is UNREAD:
                        value = self.read(item, slot, depth + 1)
                        if item is None and not self._dialect.nulls:
                            self.doubt = f"{shorten(key, 80)} is null, and is left out"
                    values[attribute] = value
        except Malformed as error:
            error.inside(key)
            error.in_field(name, key)
            raise
        if not self.is_compared:
            keys = (*map(_FIRST, node),)
            if keys not in plan.ordinary:
                self.doubt = plan.unordinary(keys) or self.doubt
        try:
            return declaration.make(values)
        except ValueError as error:
            raise Malformed(str(error), near=name).of_classes((name,)) from error

    def elements(self, nodes: list[Any], plan: Plan, depth: int) -> list[Any]:
        """The elements of an array, all of one declared type."""
        plain, read, slot = plan.plain, plan.read, plan.slot
        values: list[Any] = []
        try:
            for node in nodes:
                value = node if type(node) is plain else read(self, node, depth + 1)
                values.append(self.read(node, slot, depth + 1) if value is UNREAD else value)
        except Malformed as error:
            error.inside(len(values))
            raise
        return values

    def _throwable(self, name: str, node: Object, depth: int) -> java.Throwable:
        fields: dict[str, Any] = {}
        key = ""
        try:
            for key, item in node:
                is_trace = key == STACK_TRACE
                self._is_own = key not in SLOTS
                fields[key] = read_trace(item) if is_trace else self.read(item, SLOTS.get(key, OBJECT), depth + 1)
            self._is_own = False
        except Malformed as error:
            error.inside(key)
            raise
        number = fields.pop("@id", None)
        made = made_of(name, fields)
        if type(number) is int:
            self._throwables[number] = made
        return made

    def _same_throwable(self, number: int) -> Any:
        if number not in self._throwables:
            raise Malformed(f"there is no exception with the @id {shorten(str(number), 20)} before its use")
        # Writing it again at each place could take far more than its bytes.
        self.other = "an exception that stands at two places is written twice"
        return self._throwables[number]

    def _generic(self, node: Any, depth: int) -> Any:
        """What an object of an undeclared class holds, so that the same is written of it."""
        if type(node) is list:
            return self._items(node, OBJECT, depth, Reader._generic_item)
        if type(node) is Object:
            return dict(self._entries(node, OBJECT, OBJECT, depth, Reader._generic_item))
        return self.number(node)

    def _generic_item(self, node: Any, slot: Signature, depth: int) -> Any:
        value = self.read(node, slot, depth)
        if type(node) in (list, Object, Typed):
            if type(value) is not int or INT_MIN <= value <= INT_MAX:
                return value
            # An int beyond 32 bits would do for a bare number as well; the wrapper tells that it had a name.
            return java.Long(value) if LONG_MIN <= value <= LONG_MAX else java.BigInteger(value)
        if type(node) is Number and _DECIMAL.fullmatch(node) and double_text(value) != node:
            value = Decimal(node)
        is_natural = type(value) in (str, bool, int, type(None)) or (type(value) is float and value - value == 0)
        return value if is_natural else java.JavaObject("", value)

    def _items(
        self,
        nodes: list[Any],
        slot: Signature,
        depth: int,
        read: Callable[[Any, Any, Signature, int], Any] | None = None,
    ) -> list[Any]:
        if depth > MAX_DEPTH:
            raise Malformed(TOO_DEEP)
        read = read or Reader.read
        values: list[Any] = []
        try:
            for node in nodes:
                values.append(read(self, node, slot, depth + 1))
        except Malformed as error:
            error.inside(len(values))
            raise
        return values

    def _key(self, text: str, name: str) -> Any:
        found = self._keys.get((text, name))
        if found is None:
            found = self._keys[text, name] = map_key(text, name, self._dialect.jackson_3)
            if type(found) is not str and str(found) != text and not isinstance(found, Enum):
                self.doubt = f"the key {shorten(text, 80)} may stand in another form"
        return found

    def _entries(
        self,
        node: Iterable[tuple[str, Any]],
        key_slot: Signature,
        value_slot: Signature,
        depth: int,
        read: Callable[[Any, Any, Signature, int], Any] | None = None,
    ) -> list[tuple[Any, Any]]:
        if depth > MAX_DEPTH:
            raise Malformed(TOO_DEEP)
        read = read or Reader.read
        plain = key_slot.name == OBJECT.name
        pairs = []
        key = ""
        try:
            for key, item in node:
                pairs.append((key if plain else self._key(key, key_slot.name), read(self, item, value_slot, depth + 1)))
        except Malformed as error:
            error.inside(key)
            raise
        return pairs


def _fitting(value: Any, slot: Signature) -> Any:
    """A value whose class stood in the bytes. Raises Malformed where that is none of what is declared."""
    if slot is not OBJECT and slot.variable is None and not may_be_assignable(value, slot.name):
        raise Malformed(f"{type_name(value)} where {slot.name} is declared", near=slot.name)
    return value
