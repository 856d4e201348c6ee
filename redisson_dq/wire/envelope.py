"""The envelope around a delayed value, in both of Redisson's formats.

Neither has a version byte. They are distinguished by the total length, which each states at its own offset:

    current (Redisson 3.21.1 and later)     08 | id (8) | length of value (8, little endian) | value

    legacy (Redisson up to 3.21.0)               id (8) | length of value (8, little endian) | value

In the current format the byte in front is the length of the id. Redisson writes 8 and reads any. A lean entry of ours
is in the timeout zset and in no list. Its id has nine bytes. A lease is there too, and its id has ten bytes.

The scripts wrap and unwrap inside Redis (``scripts/include/envelope.lua``). This module reads envelopes in Python. The
two are tested against each other.
"""

from __future__ import annotations

import enum
import struct
from datetime import datetime, timezone

import attrs

from redisson_dq.errors import EnvelopeError

__all__ = ["Envelope", "Quarantined", "unwrap", "wrap"]

_LEGACY = struct.Struct("<8sQ")
# The first byte is the length of the id.
_CURRENT = {size: struct.Struct(f"<B{size}sQ") for size in (8, 9, 10)}


class Envelope(str, enum.Enum):
    """Which format is written. Both are always read."""

    CURRENT = "current"
    LEGACY = "legacy"


def wrap(envelope: Envelope, entry_id: bytes, value: bytes) -> bytes:
    """The member as it is in the zset and the list. ``entry_id`` has 8 bytes, 9 in a lean entry, 10 in a lease."""
    if envelope is Envelope.CURRENT:
        size = len(entry_id)
        return _CURRENT[size].pack(size, entry_id, len(value)) + value
    return _LEGACY.pack(entry_id, len(value)) + value


def unwrap(member: bytes) -> tuple[bytes, bytes]:
    """``(id, value)`` of a member in either format. Raises EnvelopeError when it is in neither.

    Three shapes fit both formats. In the current one they are an empty value: of a mirrored entry (17 bytes), a lean
    entry (18) or a lease (19). In the legacy one they are the value ``00``, ``00 00`` or ``00 00 00``. They are read as
    the current format, here and in the scripts.
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
            # Another program put it there.
            return cls(score=None, member=element)

    @property
    def due(self) -> datetime | None:
        """The due time in UTC, or None when it is unknown or out of datetime's range."""
        try:
            return None if self.score is None else datetime.fromtimestamp(self.score / 1000, timezone.utc)
        except (OverflowError, ValueError, OSError):
            return None
