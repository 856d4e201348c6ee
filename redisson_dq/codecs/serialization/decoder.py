"""From the contents of a stream to Python values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from redisson_dq.codecs.faults import MAX_DEPTH, TOO_DEEP, Malformed, shorten
from redisson_dq.codecs.hashes import FEW_KEYS, check_hashes
from redisson_dq.codecs.serialization import declared, table, throwables
from redisson_dq.codecs.serialization.stream import Array, ClassDesc, ClassObject, Content, EnumConstant, Instance
from redisson_dq.java.arrays import array_of, component_of
from redisson_dq.java.collections import Comparator, Entries, map_of, set_of
from redisson_dq.java.declare import declaration_of
from redisson_dq.java.values import JavaClass, ThrowableClass

__all__ = ["Decoder"]

_PENDING: Final = object()
_FREE_WORK: Final = 100_000
_ENOUGH: Final = 1 << 60


class Decoder:
    """The values of the contents seen so far: one content is one Python object, wherever it is referred to.

    ``depth`` is how deep the next value is nested; ``described`` what the classes of exceptions are.

    A reference costs five bytes and may stand for a value of any size. So whatever copies a value or goes
    through all of it (a wrapper around a list, the hash of a key) is charged for, and the bytes pay: see
    :meth:`spend`.
    """

    __slots__ = ("_budget", "_generic", "_open", "_size", "_sizes", "_values", "depth", "described")

    def __init__(self, data_size: int, *, generic: bool = False) -> None:
        """``generic``: objects of undeclared classes become JavaObject."""
        self._generic = generic
        self.depth = 0
        self.described: dict[ClassDesc, ThrowableClass | None] = {}
        self._budget = _FREE_WORK + 10 * data_size
        self._values: dict[Content, Any] = {}
        self._open: set[Content] = set()
        # How many values each content holds if every reference is followed, and how many there were so far.
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
        if content is None or type(content) is str:
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
        """Let contents inside ``content`` refer to its value, which they and the caller are about to fill."""
        self._values[content] = value
        self._open.add(content)
        return value

    def values(self, contents: Iterable[Content]) -> list[Any]:
        """The values of several contents, in order."""
        found: list[Any] = []
        self.fill(found, contents)
        return found

    def fill(self, target: list[Any], contents: Iterable[Content]) -> None:
        """Append the values of several contents."""
        try:
            for content in contents:
                target.append(self.value(content))
        except Malformed as exc:
            exc.inside(len(target))
            raise

    def copied(self, content: Content) -> Any:
        """The value of a content for one that takes its elements over."""
        value = self.value(content)
        if content in self._open:
            raise Malformed("a value that holds itself where Python cannot do that", content.offset)
        try:
            self.spend(len(value), content)
        except TypeError as exc:
            raise Malformed("no collection stands where one is due", content.offset) from exc
        return value

    def spend(self, cost: int, content: Content) -> None:
        """Pay for work that the bytes themselves do not pay for. Raises Malformed when it is too much for them."""
        self._budget -= cost
        if self._budget < 0:
            raise Malformed("the same values are referred to too often", content.offset)

    def set(self, node: Instance, java_name: str, kind: Any, contents: Iterable[Content]) -> Any:
        """The set of these elements, or Elements if Python cannot hold them in one."""
        before = self._size
        values = self.values(contents)
        self._check_hashes(values, self._size - before, node)
        return set_of(java_name, kind, values)

    def map(self, node: Instance, java_name: str, kind: Any, pairs: list[Content]) -> Any:
        """The map of these keys and values by turns, or Entries if Python cannot hold them in a dict.

        The keys come first, because they decide what holds the values, which may refer to the map.
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
        except Malformed as exc:
            exc.inside(key)
            raise
        return made

    def _check_hashes(self, keys: list[Any], size: int, node: Instance) -> None:
        """Refuse keys whose hashes take too long, each by itself or, being the same, all together."""
        if any(type(key).__hash__ is None for key in keys):
            return
        self.spend(size, node)
        try:
            check_hashes(keys, node.offset)
            for key in keys[:FEW_KEYS]:
                hash(key)
        except (Malformed, RecursionError):
            raise
        except TypeError:
            return
        except Exception as exc:  # a __hash__ of the user's own, of an object that is not complete yet
            raise Malformed(f"a key or element without a hash: {type(exc).__name__}: {exc}", node.offset) from exc

    # By kind of content

    def _instance(self, node: Instance) -> Any:
        desc = node.desc
        row = table.BY_NAME.get(desc.name)
        if row is not None:
            return row.read(node, self)
        if throwables.is_throwable(desc):
            return throwables.read_throwable(node, self)
        declaration = declaration_of(desc.name)
        if declaration is not None:
            return declared.read_object(node, declaration, self)
        if self._generic and desc.interfaces is None:
            return declared.read_generic(node, self)
        raise self.unknown(desc, node.offset)

    def _array(self, node: Array) -> Any:
        code = node.desc.name[1:]
        items = node.items
        if code == "B":
            return items
        try:
            component = component_of(node.desc.name)
        except ValueError as exc:
            raise Malformed(str(exc), node.offset) from exc
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
            return declared.read_generic_constant(node)
        raise self.unknown(node.desc, node.offset)

    def _class(self, node: ClassObject) -> JavaClass:
        self.spend(len(node.desc.name), node)
        return JavaClass(node.desc.name)

    def unknown(self, desc: ClassDesc, offset: int) -> Malformed:
        """The fault of a class that nothing is known of."""
        if desc.interfaces is not None:
            return Malformed(f"a dynamic proxy of {shorten(', '.join(desc.interfaces), 200)} cannot be read", offset)
        name = shorten(desc.name, 200)
        if desc.name.startswith(("java.", "javax.", "sun.", "jdk.")):
            return Malformed(f"Java class {name} cannot be read", offset)
        return Malformed(
            f"Java class {name} is not declared: declare a Python class for it with {declared.declaration_line(desc)}",
            offset,
        )


_READ: dict[type, Any] = {
    Instance: Decoder._instance,
    Array: Decoder._array,
    EnumConstant: Decoder._enum,
    ClassObject: Decoder._class,
}
