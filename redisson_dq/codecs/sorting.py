"""Sorted collections and priority queues: the order in which they are written, and those that Java cannot have.

Java's serialization trusts the order of the bytes: a TreeMap whose keys are in another order does not find them. All
other codecs sort again in Java, so there the order of the bytes does not matter.
"""

from __future__ import annotations

from typing import Any

from redisson_dq.codecs.faults import Unencodable
from redisson_dq.java.collections import Entries
from redisson_dq.java.hierarchy import class_name, jdk_types, said_supertypes, supertypes
from redisson_dq.java.orders import Comparator, Unsortable, sorted_strictly
from redisson_dq.java.registry import declaration_of
from redisson_dq.java.tables import itself, key_of, remembered_order, remembered_sorted

__all__ = ["SORTED", "refuse_comparator", "sorted_contents"]

_QUEUES = frozenset(("java.util.PriorityQueue", "java.util.concurrent.PriorityBlockingQueue"))
#: By Java name: the collections that a comparator, or the order of their elements, keeps sorted.
SORTED = _QUEUES | {
    *("java.util.TreeMap", "java.util.TreeSet"),
    *("java.util.concurrent.ConcurrentSkipListMap", "java.util.concurrent.ConcurrentSkipListSet"),
}
_COMPARABLE, _UNKNOWN = "java.lang.Comparable", "?"


def sorted_contents(value: Any, java_name: str, *, trusted: bool = False) -> list[Any]:
    """The elements of a sorted collection of that class, or the pairs of a sorted map, in the order of writing.

    ``trusted`` says that Java trusts the order of the bytes. Raises Unencodable if Java cannot have such a collection,
    or if the order is trusted but not known here. O(n log n)
    """
    comparator = getattr(value, "comparator", None)
    if comparator is not None and not isinstance(comparator, Comparator):
        raise Unencodable("the comparator of a sorted collection is a java.Comparator")
    items = list(value.items()) if isinstance(value, dict) else list(value)
    key = key_of if isinstance(value, (dict, Entries)) else itself
    is_queue = java_name in _QUEUES
    remembered = None if is_queue else remembered_sorted(value, comparator) if trusted else remembered_order(value)
    if remembered is not None:
        return remembered
    try:
        found = sorted_strictly(comparator, items, key, twice=is_queue)
    except Unsortable as error:
        if error.in_java:
            raise Unencodable(f"no {java_name} holds these: {error}. Send a collection that is not sorted") from error
        _check_comparable(items, key, java_name)
        if trusted and not is_queue and len(items) > 1:
            raise Unencodable(
                f"a {java_name} that Java would read in a wrong order: {error}. Send a LinkedHashMap or LinkedHashSet "
                "for Java to sort, or take a codec with which Java sorts, such as Kryo5Codec"
            ) from error
        found = items
    return items if is_queue else found


def _check_comparable(items: list[Any], key: Any, java_name: str) -> None:
    """Refuse objects of a class that is known not to be Comparable in Java."""
    for name in {class_name(key(item)) or _UNKNOWN for item in items}:
        declaration = declaration_of(name)
        if name[0] == "[":
            has_order = False
        elif name in jdk_types():
            has_order = _COMPARABLE in supertypes(name)
        else:
            has_order = declaration is None or not declaration.says_all or _COMPARABLE in said_supertypes(declaration)
        if not has_order:
            raise Unencodable(f"no {java_name} holds a {name}, which is not Comparable in Java")


def refuse_comparator(value: Any) -> None:
    """Refuse a comparator if Java's codec writes none: Java would read the collection in natural order."""
    if getattr(value, "comparator", None) is not None:
        raise Unencodable("a collection with a comparator, which this codec does not write, in Java as well")
