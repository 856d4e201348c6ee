"""The log, which gets happenings like any observer: which kinds have a line, at which level, with which fields.

A line for another kind of happening is registered next to its class::

    @line(logging.ERROR)
    def _timed_out(late: TimedOut) -> Words:
        return Words("queue %r: %s has not returned", late.queue, late.handler)
"""

from __future__ import annotations

import enum
import logging
import typing
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import attrs

from redisson_dq._common.texts import counted, described
from redisson_dq.observing import happenings
from redisson_dq.observing.happenings import Happening
from redisson_dq.scheduling.engine import Role

__all__ = ["Words", "fields_of", "is_logged", "line", "log", "switch_of"]

_MAIN = "redisson_dq"
#: The lines of these two come at the pace of the queues. A program may want only one of them.
_TRANSFERS, _LEASES = f"{_MAIN}.transfers", f"{_MAIN}.leases"


class Words:
    """The text of a line and its arguments. ``level`` is for one below its kind's. A line may have a traceback."""

    def __init__(
        self, text: str, *arguments: object, level: int | None = None, traceback_of: BaseException | None = None
    ) -> None:
        self.text, self.arguments, self.level, self.traceback_of = text, arguments, level, traceback_of


_Words = Callable[[Any], Words]


@attrs.frozen
class _LogLine:
    level: int
    logger: logging.Logger
    words: _Words


_lines: dict[type[Happening], _LogLine] = {}


def line(level: int, logger: str = _MAIN) -> Callable[[_Words], _Words]:
    """Registers a function that writes the log line of a kind of event. Its annotation names the kind.

    ``level`` is the highest that a line of this kind may have: where it is off, no words are made.
    """

    def register(words: _Words) -> _Words:
        kind, _ = typing.get_type_hints(words).values()
        _register(kind, level, logger, words)
        return words

    return register


def _says(kind: type[Happening], level: int, logger: str, text: str, *fields: str) -> None:
    """Registers a line whose arguments are fields of the happening."""
    _register(kind, level, logger, lambda happening: Words(text, *[getattr(happening, each) for each in fields]))


def _register(kind: type[Happening], level: int, logger: str, words: _Words) -> None:
    _lines[kind] = _LogLine(level, logging.getLogger(logger), words)


def switch_of(kind: type[Happening]) -> Callable[[], bool] | None:
    """A function that returns whether the line of this kind is switched on in logging now. None for a kind without a
    line.
    """
    found = _lines.get(kind)
    return None if found is None else partial(found.logger.isEnabledFor, found.level)


def is_logged(kind: type[Happening]) -> bool:
    """Whether a happening of this kind would be logged, as logging is set up now. Otherwise the happening need not be
    made.
    """
    is_on = switch_of(kind)
    return is_on is not None and is_on()


def log(happening: Happening) -> None:
    """Logs the happening where its kind has a line. The record has the happening's fields too (:func:`fields_of`)."""
    found = _lines.get(type(happening))
    if found is None or not found.logger.isEnabledFor(found.level):
        return
    words = found.words(happening)
    level = found.level if words.level is None else words.level
    found.logger.log(level, words.text, *words.arguments, exc_info=words.traceback_of, extra=fields_of(happening))


def fields_of(happening: Happening) -> dict[str, Any]:
    """The fields of a happening in plain types, and ``happening``, the name of its class.

    A duration is in milliseconds, under a name that ends with ``_ms``. An error is a text. A field that a happening's
    repr leaves out, as a value's bytes, is left out here.
    """
    fields: dict[str, Any] = {"happening": type(happening).__name__}
    for field in attrs.fields(type(happening)):
        value = getattr(happening, field.name)
        if isinstance(value, timedelta):
            fields[f"{field.name}_ms"] = round(value / timedelta(milliseconds=1), 3)
        elif isinstance(value, datetime):
            fields[field.name] = value.isoformat()
        elif isinstance(value, BaseException):
            fields[field.name] = described(value)
        elif isinstance(value, enum.Enum):
            fields[field.name] = value.value
        elif field.name == "values":
            fields.update({"values": list(value)} if value else {})
        elif field.repr and value is not None:
            fields[field.name] = value
    return fields


def _name_queue(record: logging.LogRecord) -> bool:
    """Gives the field ``queue`` to a line that is of no happening, and begins with its queue as all lines do."""
    if str(record.msg).startswith("queue %r") and isinstance(record.args, tuple) and not hasattr(record, "queue"):
        record.queue = record.args[0]
    return True


logging.getLogger(_MAIN).addFilter(_name_queue)


# -- the connection to Redis -----------------------------------------------------------------------------------------

# Both ends of an outage have the same level, so that no filter shows the beginning without the end.
_says(happenings.Away, logging.WARNING, _MAIN, "Redis cannot be reached: %s", "error")


@line(logging.WARNING)
def _back_again(back: happenings.BackAgain) -> Words:
    return Words("Redis is back after %.1f s", back.after.total_seconds())


@line(logging.WARNING)
def _noticed(noticed: happenings.Noticed) -> Words:
    level = logging.WARNING if noticed.needs_a_hand else logging.INFO
    return Words("Redis at %s: %s: %s", noticed.server, noticed.found, noticed.advice, level=level)


# -- moving due items ------------------------------------------------------------------------------------------------

_PAUSED = "queue %r: paused: nothing falls due until delayed_queue(%r).resume()"
_SUBSCRIBED = "queue %r: subscribed to the channel %r"
_says(happenings.Paused, logging.INFO, _TRANSFERS, _PAUSED, "queue", "queue")
_says(happenings.Resumed, logging.INFO, _TRANSFERS, "queue %r: resumed", "queue")
_says(happenings.Subscribed, logging.INFO, _TRANSFERS, _SUBSCRIBED, "queue", "channel")

_ROLES = {
    Role.ALONE: "this client moves its due items now, and no other client listens",
    Role.MOVER: "this client is the mover now, and others are in reserve",
    Role.RESERVE: "another client is the mover now, and this one is in reserve",
}


@line(logging.INFO, _TRANSFERS)
def _role_changed(changed: happenings.RoleChanged) -> Words:
    return Words("queue %r: %s", changed.queue, _ROLES[changed.role])


@line(logging.DEBUG, _TRANSFERS)
def _moved(moved: happenings.Moved) -> Words:
    items = counted(moved.count, "item", "items")
    if moved.late_by is None:
        return Words("queue %r: moved %s", moved.queue, items)
    return Words("queue %r: moved %s, the first %.1f ms late", moved.queue, items, _ms(moved.late_by))


@line(logging.WARNING)
def _set_aside(aside: happenings.SetAside) -> Words:
    return Words(
        "queue %r: %s moved to the list %r; delayed_queue(%r).read_quarantine() shows them",
        aside.queue,
        counted(aside.count, "member that is in no envelope format was", "members that are in no envelope format were"),
        aside.kept_in,
        aside.queue,
    )


@line(logging.WARNING)
def _expired(expired: happenings.Expired) -> Words:
    return Words(
        "queue %r: %s in the list %r; delayed_queue(%r).read_expired() shows them",
        expired.queue,
        counted(
            expired.count,
            "item was too late to be delivered and is",
            "items were too late to be delivered and are",
        ),
        expired.kept_in,
        expired.queue,
    )


_MADE_UP = {"all": "%d of them are offered now", "skip": "%d are delivered"}


@line(logging.WARNING)
def _missed(missed: happenings.Missed) -> Words:
    made_up = _MADE_UP.get(missed.policy, "%d are offered, and the one before stands for them")
    return Words(
        f"queue %r: the recurring offer %r: %s from %s to %s; {made_up}",
        missed.queue,
        missed.id,
        counted(missed.count, "occurrence was missed", "occurrences were missed"),
        missed.first.isoformat(),
        missed.last.isoformat(),
        missed.offered,
        # Occurrences that are close to each other are missed where a step is slow.
        level=None if missed.late_by >= timedelta(minutes=1) else logging.INFO,
    )


# -- values and leases -----------------------------------------------------------------------------------------------

_LEASE_LOST = (
    "queue %r: lost the lease of %s, attempt %d: the value may be handled elsewhere too; a longer visibility_timeout= "
    "gives more time"
)
_TOO_LATE = "queue %r: the lease of %s had ended before its ack; a longer visibility_timeout= gives more time"
_says(happenings.LeaseLost, logging.INFO, _LEASES, _LEASE_LOST, "queue", "display_name", "attempt")
_says(happenings.AckedTooLate, logging.WARNING, _MAIN, _TOO_LATE, "queue", "display_name")


@line(logging.WARNING)
def _skipped(skipped: happenings.Skipped) -> Words:
    return Words("queue %r: skipped %s: %s", skipped.queue, counted(skipped.count, "value", "values"), skipped.error)


@line(logging.WARNING)
def _took_long(call: happenings.TookLong) -> Words:
    return Words(
        "queue %r: %s took %.1f s, with everything that was sent along. Redis does it in one step, whatever its "
        "size, and serves no other client meanwhile; docs/limits.md names calls that do less at a time",
        call.queue,
        call.call,
        call.duration.total_seconds(),
    )


@line(logging.DEBUG, _LEASES)
def _values_taken(taken: happenings.ValuesTaken) -> Words:
    return Words(
        f"queue %r: took %s{_shown(taken.values)}", taken.queue, counted(taken.count, "value", "values"), *taken.values
    )


@line(logging.DEBUG, _LEASES)
def _lease_began(began: happenings.LeaseBegan) -> Words:
    late = () if began.lateness is None else (_ms(began.lateness),)
    after = ", %.1f ms after its due time" if late else ""
    text = f"queue %r: leased %s, attempt %d{after}{_shown(began.values)}"
    return Words(text, began.queue, began.display_name, began.attempt, *late, *began.values)


@line(logging.DEBUG, _LEASES)
def _settled(settled: happenings.Settled) -> Words:
    text = "queue %r: the lease of %s, attempt %d, ended after %.1f ms: %s"
    return Words(text, settled.queue, settled.display_name, settled.attempt, _ms(settled.held), settled.outcome.value)


@line(logging.WARNING)
def _buried(buried: happenings.Buried) -> Words:
    return Words(
        "queue %r: %s delivered %s and %s in the list %r now; dead_letters() of the queue shows "
        "them, and redrive() brings them back",
        buried.queue,
        counted(buried.count, "value was", "values were"),
        counted(buried.limit, "time", "times"),
        "is" if buried.count == 1 else "are",
        buried.kept_in,
    )


def _ms(duration: timedelta) -> float:
    return duration / timedelta(milliseconds=1)


def _shown(values: tuple[str, ...]) -> str:
    return ": " + ", ".join(["%s"] * len(values)) if values else ""
