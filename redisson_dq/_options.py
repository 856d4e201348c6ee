"""The options of a client, checked once."""

from __future__ import annotations

import attrs

from .codecs.base import Codec
from .codecs.kryo5 import Kryo5Codec
from .errors import ArgumentError
from .wire.envelope import Envelope
from .wire.keys import NameMapper

__all__ = ["Options"]

# What one script call may move: its work is proportional to it, and Lua cannot unpack many thousand values.
_LARGEST_TRANSFER = 5000
_LONGEST_PROBE_INTERVAL = 86_400.0
_LONGEST_MEMORY = 30 * 86_400.0


@attrs.frozen(kw_only=True)
class Options:
    """What ``connect`` and ``Client`` were told."""

    codec: Codec
    envelope: Envelope
    name_mapper: NameMapper | None
    probe_interval: float
    transfer_batch: int
    undecodable: str
    remember_ms: int
    wakeups: str

    @classmethod
    def checked(
        cls,
        codec: Codec | None,
        envelope: Envelope | str,
        name_mapper: NameMapper | None,
        probe_interval: float,
        transfer_batch: int,
        undecodable: str,
        remember: float,
        wakeups: str,
    ) -> Options:
        """Raises ArgumentError for what cannot be used, naming the option."""
        if codec is not None and not isinstance(codec, Codec):
            raise ArgumentError(f"codec= is a redisson_dq.codecs.Codec, such as StringCodec(), not {codec!r}")
        try:
            envelope = Envelope(envelope)
        except ValueError:
            raise ArgumentError(f"envelope= is 'current' or 'legacy', not {envelope!r}") from None
        if name_mapper is not None and not isinstance(name_mapper, str) and not callable(name_mapper):
            raise ArgumentError(f"name_mapper= is a prefix or a function from name to name, not {name_mapper!r}")
        if not isinstance(probe_interval, (int, float)) or not 0 < probe_interval <= _LONGEST_PROBE_INTERVAL:
            raise ArgumentError(f"probe_interval= is a number of seconds up to a day, not {probe_interval!r}")
        if type(transfer_batch) is not int or not 1 <= transfer_batch <= _LARGEST_TRANSFER:
            raise ArgumentError(f"transfer_batch= is an int between 1 and {_LARGEST_TRANSFER}, not {transfer_batch!r}")
        if undecodable not in ("raise", "skip"):
            raise ArgumentError(f"undecodable= is 'raise' or 'skip', not {undecodable!r}")
        if isinstance(remember, bool) or not isinstance(remember, (int, float)) or not 0 <= remember <= _LONGEST_MEMORY:
            raise ArgumentError(f"remember= is a number of seconds from 0 to 30 days, not {remember!r}")
        if wakeups not in ("channel", "keyspace"):
            raise ArgumentError(f"wakeups= is 'channel' or 'keyspace', not {wakeups!r}")
        return cls(
            codec=Kryo5Codec() if codec is None else codec,
            envelope=envelope,
            name_mapper=name_mapper,
            probe_interval=probe_interval,
            transfer_batch=transfer_batch,
            undecodable=undecodable,
            remember_ms=int(remember * 1000),
            wakeups=wakeups,
        )
