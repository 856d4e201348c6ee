"""How a worker opens a queue."""

from __future__ import annotations

from typing import Any

import attrs

from redisson_dq._times import Delay
from redisson_dq.codecs.base import Codec

__all__ = ["QueueSettings"]


@attrs.frozen(kw_only=True)
class QueueSettings:
    """The settings of a queue. None: the setting of the worker or the client."""

    codec: Codec[Any] | None = None
    partitions: int | None = None
    dead_letter: str | None = None
    visibility_timeout: Delay | None = None
    transfer: bool | None = None
    bounded: bool | None = None

    def with_defaults(self, defaults: QueueSettings) -> QueueSettings:
        """These settings, with those of ``defaults`` where this one has None."""
        given = attrs.asdict(self, recurse=False)
        return attrs.evolve(defaults, **{name: value for name, value in given.items() if value is not None})
