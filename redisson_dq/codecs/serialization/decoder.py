"""From the contents of a stream to Python values."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from redisson_dq.codecs.faults import MAX_DEPTH, TOO_DEEP, Malformed, command, shorten, undeclared
from redisson_dq.codecs.hashes import FEW_KEYS, Hashes
from redisson_dq.codecs.java_limits import unread
from redisson_dq.codecs.serialization import class_descriptors, declared, described, registry, throwables
from redisson_dq.codecs.serialization.protocols import DecoderProtocol
from redisson_dq.codecs.serialization.registry import constant_key
from redisson_dq.codecs.serialization.stream import (
    SC_EXTERNALIZABLE,
    ArrayInstance,
    ClassDesc,
    ClassObject,
    Content,
    EnumConstant,
    Instance,
)
from redisson_dq.java.arrays import array_of
from redisson_dq.java.collections import Entries, map_of, remember_table, set_of
from redisson_dq.java.extending import may_extend
from redisson_dq.java.facts import INSTEAD
from redisson_dq.java.orders import Comparator
from redisson_dq.java.own import own
from redisson_dq.java.registry import declaration_of
from redisson_dq.java.tables import Table
from redisson_dq.java.values import JavaClass, ThrowableClass

__all__ = ["Decoder"]

_PENDING: Final = object()
_FREE_WORK: Final = 100_000
_ENOUGH: Final = 1 << 60
#: The collections of an enum, and the field that names the enum.
_ENUM_COLLECTIONS: Final = {"java.util.EnumMap": "keyType", "java.util.EnumSet$SerializationProxy": "elementType"}
_GENERIC_ADVICE: Final = 'unknown="generic", an option of the codec, keeps its objects as they are'


class Decoder:
    """The values of the contents seen so far: each content is one Python object, wherever it is referred to.

    ``depth`` is the depth of the next value, ``stream`` the stream that it is in. ``described`` has the classes of
    exceptions. ``other`` says why the value would be written to other bytes. Empty if it would not.

    A reference takes five bytes, and may refer to a value of any size. Some steps copy or traverse a value, such as a
    wrapper around a list or the hash of a key. Each such step is charged against the number of bytes: see
    :meth:`spend`.
    """

    __slots__ = (
        "_budget",
        "_closed",
        "_generic",
        "_hashes",
        "_open",
        "_size",
        "_sizes",
        "_values",
        "constants",
        "depth",
        "described",
        "other",
        "stream",
    )

    def __init__(self, data_size: int, *, generic: bool = False) -> None:
        """``generic``: objects of undeclared classes become JavaObject."""
        self._generic = generic
        self._hashes = Hashes()
        self.depth = 0
        self.stream = ""
        self.other = ""
        self.described: dict[ClassDesc, ThrowableClass | None] = {}
        self._budget = _FREE_WORK + 10 * data_size
        self._values: dict[Content, Any] = {}
        #: By stream and key, for values that are a single object in Java: the position where the value was read.
        self.constants: dict[Any, Instance] = {}
        self._open: set[Content] = set()
        self._closed: set[Content] = set()
        # The number of values in each content if every reference is followed, and the number so far.
        self._sizes: dict[Content, int] = {}
        self._size = 0

    def enum_class(self, content: Content, node: Instance) -> Any:
        """The Python class of the declared enum whose Class object this is."""
        if not isinstance(content, ClassObject):
            raise Malformed("an enum collection without its enum", node.offset)
        declaration = declaration_of(content.desc.name)
        if declaration is None or declaration.kind != "enum":
            raise self.unknown(content.desc, node.offset)
        return declaration.python

    def value(self, content: Content) -> Any:
        """The Python value of a content. Raises Malformed."""
        if content is None or isinstance(content, str):
            self._size += 1
            return content
        found = self._values.get(content)
        if found is not None:
            if found is _PENDING:
                raise Malformed("a value that holds itself where Python cannot do that", content.offset)
            self._size = min(self._size + self._sizes.get(content, 1), _ENOUGH)
            return found
        if type(content) is ClassDesc:
            raise Malformed("a class descriptor where an object is due")
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Malformed(TOO_DEEP, content.offset)
        self._values[content] = _PENDING
        before = self._size
        made = _READ[type(content)](self, content)
        self._values[content] = made
        self._open.discard(content)
        self._size = min(self._size + 1, _ENOUGH)
        self._sizes[content] = self._size - before
        self.depth -= 1
        return made

    def begin(self, content: Content, value: Any) -> Any:
        """Let contents inside ``content`` refer to its value, which is about to be filled."""
        if content not in self._closed:
            self._values[content] = value
            self._open.add(content)
        return value

    def complete(self, content: Any, read: Callable[[Any, DecoderProtocol], Any]) -> Any:
        """The value that ``read`` makes of a content. It is replaced by another value, so nothing inside may refer to
        it."""
        self._closed.add(content)
        made = read(content, self)
        self._open.discard(content)
        return made

    def values(self, contents: Iterable[Content]) -> list[Any]:
        """The values of several contents, in order."""
        found: list[Any] = []
        self.fill(found, contents)
        return found

    def fill(self, target: list[Any], contents: Iterable[Content]) -> None:
        """Append the values of several contents to a list."""
        try:
            for content in contents:
                target.append(self.value(content))
        except Malformed as error:
            error.inside(len(target))
            raise

    def copied(self, content: Content) -> Any:
        """The value of a content, for a value that takes over its elements."""
        value = self.value(content)
        if content in self._open:
            raise Malformed("a value that holds itself where Python cannot do that", content.offset)
        try:
            self.spend(len(value), content)
        except TypeError as error:
            raise Malformed("a collection is missing", content.offset) from error
        return value

    def spend(self, cost: int, content: Content) -> None:
        """Account for work that is not proportional to the bytes. Raises Malformed if it is too much for their
        number."""
        self._budget -= cost
        if self._budget < 0:
            raise Malformed("the same values are referred to too often", content.offset)

    def set(
        self, node: Instance, java_name: str, kind: Any, contents: Iterable[Content], table: Table | None = None
    ) -> Any:
        """The set of these elements, or Elements if a Python set cannot hold them. ``table``: see set_of."""
        before = self._size
        values = self.values(contents)
        self._check_hashes(values, self._size - before, node, kind)
        return set_of(java_name, kind, values, table)

    def map(self, node: Instance, java_name: str, kind: Any, pairs: list[Content], table: Table | None = None) -> Any:
        """The map of these alternating keys and values, or Entries if a dict cannot hold them.

        The keys are read first, because they decide the type of the map, to which the values may refer.
        """
        before = self._size
        keys = self.values(pairs[::2])
        self._check_hashes(keys, self._size - before, node)
        made = self.begin(node, map_of(java_name, kind, [(key, None) for key in keys]))
        key: Any = None
        try:
            if isinstance(made, Entries):
                made.clear()
                for key, content in zip(keys, pairs[1::2], strict=True):
                    made.append((key, self.value(content)))
            else:
                for key, content in zip(keys, pairs[1::2], strict=True):
                    made[key] = self.value(content)
        except Malformed as error:
            error.inside(key)
            raise
        remember_table(made, table)
        return made

    def _check_hashes(self, keys: list[Any], size: int, node: Instance, kind: Any = dict) -> None:
        """Refuse keys whose hashes take too long, individually or together in a hash table."""
        if not keys or type(keys[0]).__hash__ is None:
            return
        self.spend(size, node)
        try:
            self._hashes.check(keys, node.offset, kind)
            for key in keys[:FEW_KEYS]:
                hash(key)
        except (Malformed, RecursionError):
            raise
        except TypeError:
            return
        except Exception as error:  # a user-defined __hash__ of an object that is not complete yet
            raise Malformed(f"a key or element without a hash: {type(error).__name__}: {error}", node.offset) from error

    # By kind of content

    def _instance(self, node: Instance) -> Any:
        desc = node.desc
        handler = registry.BY_NAME.get(desc.name)
        if handler is not None and not (self._generic and self._of_unknown_enum(node)):
            made = handler.read(node, self)
            return made if handler.identity else self._as_object(made, node, constant_key(made, handler))
        if throwables.is_throwable(desc):
            return throwables.read_throwable(node, self)
        if desc.interfaces is None:
            declaration = declaration_of(desc.name)
            if declaration is not None and declaration.extends:
                above = _collection_above(node.desc)
                if above in ("", declaration.extends):
                    beyond = _own_data(node, (part.name for part in class_descriptors.ancestry(declaration)))
                else:
                    beyond = _of_collection(node, above)
                if beyond is None:
                    extended = registry.BY_NAME[declaration.extends]
                    return declared.read_collection(node, declaration, extended.read, self)
            else:
                beyond = _beyond_fields(node)
                if declaration is not None and beyond is None:
                    return declared.read_declared(node, declaration, self)
            if self._generic:
                return described.read_generic(node, self)
            if beyond is not None:
                raise Malformed(beyond, node.offset)
        raise self.unknown(desc, node.offset)

    def _as_object(self, value: Any, node: Instance, key: Any) -> Any:
        """The value, as a separate object if Python would otherwise write more or fewer objects than Java.

        ``key`` identifies a value that is a single object in Java.
        """
        if key is None:
            return own(value) if node.shared else value
        if self.constants.setdefault((self.stream, key), node) is node:
            return value
        if type(value) is bool:
            self.other = "it has two Booleans that are two objects in Java, and Python has one"
        return own(value)

    def _of_unknown_enum(self, node: Instance) -> bool:
        """Whether it is an EnumSet or an EnumMap of an undeclared enum."""
        name = _ENUM_COLLECTIONS.get(node.desc.name)
        section = node.sections.get(node.desc.name)
        kind = None if name is None or section is None else section.values.get(name)
        return isinstance(kind, ClassObject) and declaration_of(kind.desc.name) is None

    def _array(self, node: ArrayInstance) -> Any:
        code = node.desc.name[1:]
        items = node.items
        if code == "B":
            return own(items) if node.shared else items
        try:
            component = node.desc.component
        except ValueError as error:
            raise Malformed(str(error), node.offset) from error
        if code == "C":
            return array_of(component, map(chr, items))
        if isinstance(items, tuple):
            return array_of(component, items)
        made = self.begin(node, array_of(component, ()))
        self.fill(made, items)
        return made

    def _enum(self, node: EnumConstant) -> Any:
        if node.desc.name == Comparator.NATURAL_ORDER.value:
            return Comparator.NATURAL_ORDER
        declaration = declaration_of(node.desc.name)
        if declaration is not None:
            return declared.read_constant(node, declaration)
        if self._generic:
            return described.read_generic_constant(node)
        raise self.unknown(node.desc, node.offset)

    def _class(self, node: ClassObject) -> JavaClass:
        self.spend(len(node.desc.name), node)
        made = JavaClass(node.desc.name)
        made.described = node.desc
        return made

    def unknown(self, desc: ClassDesc, offset: int) -> Malformed:
        """The fault of an unknown class."""
        if desc.interfaces is not None:
            return Malformed(f"a dynamic proxy of {shorten(', '.join(desc.interfaces), 200)} cannot be read", offset)
        if desc.name.startswith(("java.", "javax.", "sun.", "jdk.")):
            advice = f"; {_GENERIC_ADVICE}" if desc.name in INSTEAD else ""
            return Malformed(unread(desc.name) + advice, offset)
        return undeclared(desc.name, offset, line=class_descriptors.declaration_line(desc))


def _collection_above(desc: ClassDesc) -> str:
    """The nearest superclass that is a known collection and not declared. Empty if there is none."""
    above = desc.superclass
    while above is not None and above.name not in registry.BY_NAME:
        above = above.superclass
    return "" if above is None else above.name


def _of_collection(node: Instance, above: str) -> str:
    """The advice for an object of a class that extends ``above`` but is declared otherwise, for messages."""
    name = shorten(node.desc.name, 200)
    if may_extend(above):
        return (
            f"Java class {name} extends {above}: declare it as a subclass of that in Python, as "
            f"{command(node.desc.name)} writes it, not as a class with fields alone; {_GENERIC_ADVICE}"
        )
    return (
        f"Java class {name} extends {above}, which a declaration cannot describe: send the {above} itself, or an "
        f"object that has one in a field; {_GENERIC_ADVICE}"
    )


def _beyond_fields(node: Instance) -> str | None:
    """The part of an object that no declaration can describe, for messages. None if it only has fields."""
    above = _collection_above(node.desc)
    if above:
        return _of_collection(node, above)
    for part in node.desc.lineage:
        own = _own_data(node, (part.name,))
        if own is not None:
            return own
    return None


def _own_data(node: Instance, classes: Iterable[str]) -> str | None:
    """The data that one of the classes wrote besides its fields, for messages. None if there is none."""
    names = {*classes}
    for part in node.desc.lineage:
        if part.name in names and node.sections[part.name].annotation:
            how = "writeExternal" if part.flags & SC_EXTERNALIZABLE else "writeObject"
            return (
                f"Java class {shorten(part.name, 200)} writes data with a {how} of its own, which a declaration cannot "
                f"describe; {_GENERIC_ADVICE}"
            )
    return None


_READ: dict[type, Any] = {
    Instance: Decoder._instance,
    ArrayInstance: Decoder._array,
    EnumConstant: Decoder._enum,
    ClassObject: Decoder._class,
}
