"""The envelope around a delayed value, in both of Redisson's formats.

Neither has a version byte. They are told apart by the total length, which each states at its own offset:

    current   08 | id (8) | length of value (8, little endian) | value        Redisson 3.21.1 and later
    legacy         id (8) | length of value (8, little endian) | value        Redisson up to 3.21.0

In the current format the byte in front is the length of the id. Redisson writes 8 and reads any. A lean entry of ours,
which stands in the timeout zset and in no list, has an id of nine bytes, and is known by that.

The scripts wrap and unwrap inside Redis (``scripts/include/envelope.lua``); this module is for what is read
in Python, and the two are tested against each other.
"""

from __future__ import annotations

import enum
import struct
from datetime import datetime, timezone

import attrs

from ..errors import EnvelopeError

__all__ = ["Envelope", "Quarantined", "unwrap", "wrap"]

_LEGACY = struct.Struct("<8sQ")
# By the length of the id, which is the first byte.
_CURRENT = {8: struct.Struct("<B8sQ"), 9: struct.Struct("<B9sQ")}


class Envelope(str, enum.Enum):
    """Which format is written. Both are always read."""

    CURRENT = "current"
    LEGACY = "legacy"


def wrap(envelope: Envelope, entry_id: bytes, value: bytes) -> bytes:
    """The member as it stands in the zset and the list. ``entry_id`` has 8 bytes, or 9 in a lean entry."""
    if envelope is Envelope.CURRENT:
        size = len(entry_id)
        return _CURRENT[size].pack(size, entry_id, len(value)) + value
    return _LEGACY.pack(entry_id, len(value)) + value


def unwrap(member: bytes) -> tuple[bytes, bytes]:
    """``(id, value)`` of a member in either format. Raises EnvelopeError when it is in neither.

    Two shapes fit both: an empty value in the current format, 17 bytes or 18 of a lean entry, that is the value
    ``00`` or ``00 00`` in the legacy one. They are read as the current format, here and in the scripts.
    """
    current = _CURRENT.get(member[0]) if member else None
    if current is not None and len(member) >= current.size:
        _, entry_id, length = current.unpack_from(member)
        if length == len(member) - current.size:
            return entry_id, member[current.size :]
    if len(member) >= _LEGACY.size:
        entry_id, length = _LEGACY.unpack_from(member)
        if length == len(member) - _LEGACY.size:
            return entry_id, member[_LEGACY.size :]
    raise EnvelopeError(f"{len(member)} bytes are in neither of Redisson's envelope formats", member=member)


@attrs.frozen(kw_only=True)
class Quarantined:
    """One member that was in neither envelope format, kept aside with its score.

    In Redis it is one list element: the score as ASCII, a space, the member's bytes. ``score`` is the due time
    in epoch milliseconds, or None when the member was found in the envelope list and not in the zset.
    """

    score: float | None
    member: bytes

    @classmethod
    def parse(cls, element: bytes) -> Quarantined:
        """Reads one element of the quarantine list."""
        score, _, member = element.partition(b" ")
        try:
            return cls(score=float(score) if score else None, member=member)
        except ValueError:
            # Something else put it there.
            return cls(score=None, member=element)

    @property
    def due(self) -> datetime | None:
        """The due time in UTC, or None when it is unknown or out of datetime's range."""
        try:
            return None if self.score is None else datetime.fromtimestamp(self.score / 1000, timezone.utc)
        except (OverflowError, ValueError, OSError):
            return None
