"""What a queue may be opened with that not every version of this library knows."""

from __future__ import annotations

import inspect

import redisson_dq

__all__ = ["HAS_LEAN", "HAS_PARTITIONS"]

_OPTIONS = inspect.signature(redisson_dq.Client.delayed_queue).parameters

#: ``delayed_queue(name, lean=True)``
HAS_LEAN = "lean" in _OPTIONS
#: ``delayed_queue(name, partitions=4)``
HAS_PARTITIONS = "partitions" in _OPTIONS
