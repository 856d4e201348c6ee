"""Facts that hold in every JVM, for all codecs."""

from __future__ import annotations

from typing import Any

__all__ = ["INSTEAD", "NO_NULLS", "NO_NULL_VALUES", "SET_FROM_MAP", "ZEROS"]

#: The initial value of a field, by primitive type. A field of any other type starts as null.
ZEROS: dict[str, Any] = {
    "boolean": False,
    "char": "\0",
    **dict.fromkeys(("byte", "short", "int", "long"), 0),
    **dict.fromkeys(("float", "double"), 0.0),
}

_UTIL, _CONCURRENT = "java.util.", "java.util.concurrent."
#: The collections that allow no null as element or key, and the maps that allow no null as value.
NO_NULLS = frozenset(
    (
        *(_UTIL + name for name in ("ArrayDeque", "PriorityQueue", "TreeSet", "TreeMap", "Hashtable", "Properties")),
        *(_CONCURRENT + name for name in ("ConcurrentHashMap", "ConcurrentHashMap$KeySetView")),
        *(_CONCURRENT + name for name in ("ConcurrentLinkedQueue", "ConcurrentLinkedDeque", "PriorityBlockingQueue")),
        *(_CONCURRENT + name for name in ("LinkedBlockingQueue", "LinkedBlockingDeque", "LinkedTransferQueue")),
        *(_CONCURRENT + name for name in ("ConcurrentSkipListSet", "ConcurrentSkipListMap")),
        *(_UTIL + name for name in ("ImmutableCollections$Map1", "ImmutableCollections$MapN")),
    )
)
NO_NULL_VALUES = NO_NULLS - {_UTIL + "TreeMap"}

#: Of Collections.newSetFromMap(): only Java's serialization reads one back.
SET_FROM_MAP = _UTIL + "Collections$SetFromMap"
#: Classes that are neither read nor written, or only by Java's serialization as they were read; the advice for each.
INSTEAD = {
    _CONCURRENT + "ArrayBlockingQueue": "Java's Kryo cannot read it back, and Java's Jackson makes a full one; "
    "send a LinkedBlockingQueue",
    _UTIL + "SimpleTimeZone": "Java itself reads back GMT; send a TimeZone by its id",
    SET_FROM_MAP: "send a HashSet or a LinkedHashSet of its elements",
    _CONCURRENT + "DelayQueue": "send an ArrayList of its elements",
}
