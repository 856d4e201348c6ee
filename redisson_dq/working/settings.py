"""What a worker knows of a queue before it opens it."""

from __future__ import annotations

from typing import Any

import attrs

from redisson_dq._times import Delay
from redisson_dq.codecs.base import Codec

__all__ = ["QueueSettings"]


@attrs.frozen(kw_only=True)
class QueueSettings:
    """How a queue is opened. None: what the worker or the client has."""

    codec: Codec[Any] | None = None
    partitions: int | None = None
    dead_letter: str | None = None
    visibility_timeout: Delay | None = None
    transfer: bool | None = None
    bounded: bool | None = None

    def with_defaults(self, defaults: QueueSettings) -> QueueSettings:
        """The same, with what others have where this one has nothing."""
        given = attrs.asdict(self, recurse=False)
        return attrs.evolve(defaults, **{name: value for name, value in given.items() if value is not None})
