"""The forms in which the bytes of Redisson's versions differ. Every form is read."""

from __future__ import annotations

import re
from enum import Enum

from redisson_dq._common.texts import shown
from redisson_dq.errors import ArgumentError

__all__ = ["RedissonForm"]

_VERSION = re.compile(r"(\d{1,4})\.(\d{1,4})(?:\.\d{1,4})?", re.ASCII)


class RedissonForm(Enum):
    """A form of bytes, with the first Redisson that writes it and the first that no longer does."""

    #: A UUID carries the name of its class in a field or array of UUIDs, in codecs that name classes.
    CLASS_OF_UUID = (4, 2), None
    #: The same in codecs of one declared type.
    CLASS_OF_UUID_IN_TYPED = (4, 2), (4, 5)
    #: Kryo5 writes wrappers of java.util.Collections, EnumMaps and addresses as streams of Java's serialization.
    STREAM_IN_KRYO = (3, 38), None
    #: Kryo5 writes ``ConcurrentHashMap.newKeySet()`` as its map and the value of each key.
    MAP_OF_KEY_SET = (4, 7), None
    #: In JSON, a map's key may have a lone surrogate: Jackson 2.21 writes it but cannot read it.
    HALF_PAIR_IN_NAME = (0, 0), (4, 3)

    def is_written_by(self, redisson: str | None) -> bool:
        """Whether the Redisson of that version, such as ``"4.3"``, writes the form. None is the newest.

        Raises ArgumentError for any other text.
        """
        first, end = self.value
        if redisson is None:
            return end is None
        found = _VERSION.fullmatch(redisson) if isinstance(redisson, str) else None
        if found is None:
            raise ArgumentError(
                f"redisson must be a version of Redisson such as '4.3' or '3.50.0', not {shown(redisson)}"
            )
        version = int(found[1]), int(found[2])
        return bool(first <= version and (end is None or version < end))
