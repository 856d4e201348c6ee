"""The options of a client, checked once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Union

import attrs

from redisson_dq._common.texts import shown
from redisson_dq._redis import tuning
from redisson_dq._redis.tuning import Tuning
from redisson_dq.codecs.base import Codec, check_codec
from redisson_dq.durability import Durability
from redisson_dq.errors import ArgumentError
from redisson_dq.observing.observers import LogValues, Observers, check_log_values
from redisson_dq.scheduling.clock import Clock, current
from redisson_dq.wire.envelope import Envelope
from redisson_dq.wire.keys import NameMapper, PlainNames

__all__ = ["Options", "OnUndecodable", "Wakeups", "Written", "check_durable"]

#: The format of new entries: the enum, or its name.
Written = Union[Envelope, Literal["current", "legacy"]]

#: How a call treats popped bytes that the codec cannot read.
OnUndecodable = Literal["raise", "skip"]

#: How a client learns that an entry was added.
Wakeups = Literal["channel", "keyspace"]

_LONGEST_MEMORY = 30 * 86_400.0


def _checked(is_right: Callable[[Any], bool], wanted: str) -> Callable[[Any, attrs.Attribute[Any], Any], None]:
    """Refuses values that cannot be used, and names the option."""

    def check(_: object, option: attrs.Attribute[Any], value: object) -> None:
        if not is_right(value):
            raise ArgumentError(f"{option.name}= must be {wanted}, not {shown(value)}")

    return check


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _codec(value: Codec | None) -> Codec:
    if value is not None:
        return value
    # Imported late, so a program with another codec does not wait for this one.
    from redisson_dq.codecs.kryo5 import Kryo5Codec

    return Kryo5Codec()


def _envelope(value: Envelope | str) -> Envelope:
    try:
        return Envelope(value)
    except ValueError:
        raise ArgumentError(f"envelope= must be 'current' or 'legacy', not {shown(value)}") from None


@attrs.frozen(kw_only=True)
class Options:
    """The options given to ``connect`` and ``Client``. Raises ArgumentError for an unusable value. The message names
    the option.
    """

    codec: Codec = attrs.field(
        converter=_codec,
        validator=lambda _, __, codec: check_codec(codec, "codec="),
    )
    envelope: Envelope = attrs.field(converter=_envelope)
    name_mapper: NameMapper | None = attrs.field(
        validator=_checked(
            lambda mapper: mapper is None or isinstance(mapper, str) or callable(mapper),
            "a prefix or a function from name to name",
        )
    )
    names: Literal["any", "plain"] = attrs.field(
        default="any", validator=_checked(lambda word: word in ("any", "plain"), "'any' or 'plain'")
    )
    undecodable: OnUndecodable = attrs.field(
        validator=_checked(lambda word: word in ("raise", "skip"), "'raise' or 'skip'")
    )
    remember: float = attrs.field(
        validator=_checked(
            lambda seconds: _is_number(seconds) and 0 <= seconds <= _LONGEST_MEMORY,
            "a number of seconds from 0 to 30 days",
        )
    )
    wakeups: Wakeups = attrs.field(
        validator=_checked(lambda word: word in ("channel", "keyspace"), "'channel' or 'keyspace'")
    )
    durable: Durability | None = attrs.field(validator=lambda _, __, durable: check_durable(durable))
    #: The observers of the client. More may be added later.
    observers: Observers = attrs.field(alias="observer", converter=Observers, eq=False)
    log_values: LogValues = attrs.field(
        default=False,
        validator=_checked(check_log_values, "True, False or a function from a value to what the log shows of it"),
    )
    #: The client's clock. It is not an argument: it is the clock that is current when the client is made.
    clock: Clock = attrs.field(init=False, factory=current)
    #: It is not an argument either: tests set it for the clients that they make.
    tuning: Tuning = attrs.field(init=False, factory=tuning.current)

    def __attrs_post_init__(self) -> None:
        self.observers.log_values = self.log_values
        if self.names == "plain":
            object.__setattr__(self, "name_mapper", PlainNames(self.name_mapper))

    @property
    def remember_ms(self) -> int:
        """For how many ms an outcome is remembered."""
        return int(self.remember * 1000)


def check_durable(durable: Durability | None) -> None:
    """Raises ArgumentError unless the value is a Durability or None."""
    if durable is not None and not isinstance(durable, Durability):
        raise ArgumentError(
            f"durable= must be a redisson_dq.Durability, such as Durability(replicas=1), not {shown(durable)}"
        )
