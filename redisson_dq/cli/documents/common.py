"""Types that several commands print."""

from __future__ import annotations

from datetime import datetime
from typing import Any, TypedDict

from redisson_dq.browsing.rows import SeenIn

__all__ = ["Failure", "FailureDocument", "HolderFields", "ItemFields"]


class Failure(TypedDict):
    """The error that ended the command."""

    exit_code: int
    """The exit code of the command."""
    error: str
    """The kind of the error, such as WrongTypeError: a class of redisson_dq.errors, UsageError or OSError."""
    message: str
    """The text of the error. It says what to do about it, too."""
    queue: str | None
    """The queue that the command was for. Null where it was for several or none."""
    key: str | None
    """The key of Redis that the error is about."""
    remedy: str | None
    """A command line that goes on, or takes the change back, with words before it."""


class FailureDocument(TypedDict):
    """Printed where the command fails, on one line. Lines of a command that goes on may be before it."""

    failure: Failure


_Class = TypedDict("_Class", {"class": "str | None"})


class HolderFields(TypedDict):
    """The client that has a value in flight."""

    client: str
    """Its name in CLIENT LIST; the first eight digits where it is not connected."""
    name: str | None
    """The client_name that the user gave."""
    host: str | None
    pid: int | None
    address: str | None
    connected: bool
    """Whether it has a connection. One that has none has died, or lost Redis."""


class ItemFields(_Class):
    """An item of a queue, with its value. ``class`` is the Java class of the value, where it has one."""

    queue: str
    """The queue, or the partition, that the item is in."""
    state: SeenIn
    id: str
    """The id by which other commands find the item."""
    due: datetime | None
    """The due time, or the deadline of a value in flight."""
    late_seconds: float | None
    """For how long its due time has passed."""
    at: datetime | None
    """When the value was received or parked, or when it died."""
    attempts: int | None
    """How many deliveries of the value have begun."""
    reason: str | None
    """Why it was given up or delivered again."""
    cursor: Any
    """How far the work on the value has come, where its handler has saved that."""
    source: str | None
    """The queue that a dead letter is from, or the id of the offer of a value in flight."""
    holder: HolderFields | None
    """The client that has a value in flight. Null where nobody can tell."""
    every: str | None
    """The rule of a recurring offer."""
    missed: str | None
    """What comes of its missed occurrences: one, skip, or all with how many at most."""
    waits_for: str | None
    """What a limit by key has parked it for, as in ``limit customer=71``."""
    envelope: str | None
    """The form of its entry: current, legacy, lean, lease, torn or unknown."""
    size: int
    """The bytes of its value."""
    codec: str | None
    """Redisson's name of the codec that reads the value."""
    codec_is: str | None
    """How sure the codec is: certain, likely or possible. It is given where --codec names it."""
    value: Any
    """The value. It is null where it could not be read, and where it is null."""
    hex: bytes | None
    """The first bytes of a value that could not be read."""
    error: str | None
    """Why the value could not be read."""
