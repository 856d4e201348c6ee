"""The Java classes whose values come back as a list, a set or a dict, whichever codec carried them."""

from __future__ import annotations

from typing import Any

from redisson_dq.codecs.faults import Malformed

__all__ = [
    "ARRAY_LIST",
    "IMMUTABLE_LISTS",
    "IMMUTABLE_MAPS",
    "IMMUTABLE_SETS",
    "LINKED_HASH_MAP",
    "LISTS",
    "MAPS",
    "SETS",
    "SMALL_LISTS",
    "SMALL_MAPS",
    "SMALL_SETS",
    "SORTED_MAPS",
    "SORTED_SETS",
    "to_set",
]

#: What a list and a dict become.
ARRAY_LIST = "java.util.ArrayList"
LINKED_HASH_MAP = "java.util.LinkedHashMap"

LISTS = (
    ARRAY_LIST,
    "java.util.LinkedList",
    "java.util.ArrayDeque",
    "java.util.Vector",
    "java.util.Arrays$ArrayList",
    "java.util.concurrent.CopyOnWriteArrayList",
)
SETS = ("java.util.HashSet", "java.util.LinkedHashSet", "java.util.concurrent.CopyOnWriteArraySet")
MAPS = (
    LINKED_HASH_MAP,
    "java.util.HashMap",
    "java.util.Hashtable",
    "java.util.concurrent.ConcurrentHashMap",
)
SORTED_SETS = ("java.util.TreeSet",)
SORTED_MAPS = ("java.util.TreeMap", "java.util.concurrent.ConcurrentSkipListMap")

# List.of(...), Set.of(...), Map.of(...).
IMMUTABLE_LISTS = (
    "java.util.ImmutableCollections$ListN",
    "java.util.ImmutableCollections$List12",
    "java.util.ImmutableCollections$SubList",
)
IMMUTABLE_SETS = ("java.util.ImmutableCollections$SetN", "java.util.ImmutableCollections$Set12")
IMMUTABLE_MAPS = ("java.util.ImmutableCollections$MapN", "java.util.ImmutableCollections$Map1")

# The empty one and the one of a single element, from java.util.Collections.
SMALL_LISTS = ("java.util.Collections$EmptyList", "java.util.Collections$SingletonList")
SMALL_SETS = ("java.util.Collections$EmptySet", "java.util.Collections$SingletonSet")
SMALL_MAPS = ("java.util.Collections$EmptyMap", "java.util.Collections$SingletonMap")


def to_set(values: list[Any]) -> set[Any]:
    """The elements as a set, if Python can hash them and tell them apart (1 and 1.0 it cannot). O(size)."""
    try:
        result = set(values)
    except TypeError as exc:
        raise Malformed("a set whose elements Python cannot hash (a list, dict or set)") from exc
    if len(result) != len(values):
        raise Malformed("a set with elements that are equal in Python")
    return result
