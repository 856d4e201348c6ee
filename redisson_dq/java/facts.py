"""What is so in every JVM, once for all codecs."""

from __future__ import annotations

from typing import Any

__all__ = ["NO_NULLS", "NO_NULL_VALUES", "ZEROS"]

#: What a field of a primitive type holds that nothing was written to. A field of any other type holds null.
ZEROS: dict[str, Any] = {
    "boolean": False,
    "char": "\0",
    **dict.fromkeys(("byte", "short", "int", "long"), 0),
    **dict.fromkeys(("float", "double"), 0.0),
}

_UTIL, _CONCURRENT = "java.util.", "java.util.concurrent."
#: The collections that hold no null, as elements and keys; and the maps that hold none as values.
NO_NULLS = frozenset(
    (
        *(_UTIL + name for name in ("ArrayDeque", "PriorityQueue", "TreeSet", "TreeMap", "Hashtable", "Properties")),
        *(_CONCURRENT + name for name in ("ConcurrentHashMap", "ConcurrentHashMap$KeySetView")),
        *(_CONCURRENT + name for name in ("ConcurrentLinkedQueue", "ConcurrentLinkedDeque", "PriorityBlockingQueue")),
        *(_CONCURRENT + name for name in ("LinkedBlockingQueue", "LinkedBlockingDeque")),
        *(_CONCURRENT + name for name in ("ConcurrentSkipListSet", "ConcurrentSkipListMap")),
        *(_UTIL + name for name in ("ImmutableCollections$Map1", "ImmutableCollections$MapN")),
    )
)
NO_NULL_VALUES = NO_NULLS - {_UTIL + "TreeMap"}
