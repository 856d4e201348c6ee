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
    """The text of the error, which also says what to do."""
    queue: str | None
    """The queue of the command. Null if it was for several queues or none."""
    key: str | None
    """The Redis key that the error is about."""
    remedy: str | None
    """A command line that continues or undoes the change, with words before it."""


class FailureDocument(TypedDict):
    """Printed on one line if the command fails. A continuous command may have printed lines before it."""

    failure: Failure


_Class = TypedDict("_Class", {"class": "str | None"})


class HolderFields(TypedDict):
    """The client that has a value in flight."""

    client: str
    """Its name in CLIENT LIST; only the first eight digits if it is not connected."""
    name: str | None
    """The client_name that the user gave."""
    host: str | None
    pid: int | None
    address: str | None
    connected: bool
    """Whether it has a connection. If not, it has died or lost Redis."""


class ItemFields(_Class):
    """An item of a queue, with its value. ``class`` is the Java class of the value, if it has one."""

    queue: str
    """The queue, or the partition, that the item is in."""
    state: SeenIn
    id: str
    """The id by which other commands find the item."""
    due: datetime | None
    """The due time, or the deadline of a value in flight."""
    late_seconds: float | None
    """How long ago its due time was."""
    at: datetime | None
    """When the value was received or parked, or when it died."""
    attempts: int | None
    """How many deliveries of the value have begun."""
    reason: str | None
    """Why it was given up or delivered again."""
    cursor: Any
    """The progress that the handler of the value has saved, if any."""
    source: str | None
    """The original queue of a dead letter, or the id of the offer of a value in flight."""
    holder: HolderFields | None
    """The client that has a value in flight. Null if unknown."""
    every: str | None
    """The rule of a recurring offer."""
    missed: str | None
    """How missed occurrences are treated: one, skip, or all with the most that are made up."""
    waits_for: str | None
    """The limit by key that has parked it, such as ``limit customer=71``."""
    envelope: str | None
    """The form of its entry: current, legacy, lean, lease, torn or unknown."""
    size: int
    """The bytes of its value."""
    codec: str | None
    """Redisson's name of the codec that reads the value."""
    codec_is: str | None
    """How certain the codec is: certain, likely or possible; or given if --codec names it."""
    value: Any
    """The value. It is null if it could not be read, or if it is null."""
    hex: bytes | None
    """The first bytes of a value that could not be read."""
    error: str | None
    """Why the value could not be read."""
