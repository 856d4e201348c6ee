"""The rule of a recurring offer in words: ``every 15 minutes``, ``at 09:30 on Monday to Friday, Europe/Berlin``."""

from __future__ import annotations

from datetime import timedelta

from redisson_dq.items import RecurringOffer

__all__ = ["in_words"]

_DAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_UNITS = (("day", 86_400_000), ("hour", 3_600_000), ("minute", 60_000), ("second", 1000), ("millisecond", 1))


def in_words(offer: RecurringOffer) -> str:
    """The rule of an offer. A rule that is too complex for a sentence stays as written."""
    if offer.every is not None:
        return _every(offer.every)
    words = _cron(offer.cron or "")
    return words if offer.timezone == "UTC" else f"{words}, {offer.timezone}"


def _every(span: timedelta) -> str:
    left, parts = round(span / timedelta(milliseconds=1)), []
    for name, size in _UNITS:
        count, left = divmod(left, size)
        if count:
            parts.append(f"{count} {name}{'s' if count > 1 else ''}")
    return f"every {' '.join(parts)}".replace("every 1 ", "every ") if len(parts) == 1 else f"every {' '.join(parts)}"


def _cron(text: str) -> str:
    fields = text.split()
    if len(fields) != 5:
        return text
    minute, hour, day, month, weekday = fields
    time = _time(minute, hour)
    days = _list(weekday, _weekday)
    months = _list(month, _month)
    if time is None or days is None or months is None or (day != "*" and not day.isdigit()):
        return f"cron {text}"
    words = [time]
    if day != "*" and weekday != "*":
        words.append(f"on day {day} of the month and on {days}")
    elif day != "*":
        words.append(f"on day {day} of the month")
    elif weekday != "*":
        words.append(f"on {days}")
    elif not time.startswith("every"):
        words.append("every day")
    if month != "*":
        words.append(f"in {months}")
    return " ".join(words)


def _time(minute: str, hour: str) -> str | None:
    if minute.isdigit() and hour.isdigit():
        return f"at {int(hour):02}:{int(minute):02}"
    if minute == "*" and hour == "*":
        return "every minute"
    if minute.startswith("*/") and minute[2:].isdigit() and hour == "*":
        return f"every {minute[2:]} minutes"
    if minute.isdigit() and hour == "*":
        return f"every hour at minute {int(minute)}"
    if minute.isdigit() and hour.startswith("*/") and hour[2:].isdigit():
        return f"every {hour[2:]} hours at minute {int(minute)}"
    return None


def _list(field: str, name: object) -> str | None:
    assert callable(name)
    parts = []
    for part in field.split(","):
        first, dash, last = part.partition("-")
        names = [name(first), name(last) if dash else ""]
        if part != "*" and None in names:
            return None
        parts.append(f"{names[0]} to {names[1]}" if dash else f"{names[0]}")
    return " and ".join((", ".join(parts[:-1]), parts[-1])) if len(parts) > 1 else parts[0]


def _weekday(text: str) -> str | None:
    if text.isdigit() and int(text) <= 7:
        return _DAYS[int(text) % 7]
    return next((each for each in _DAYS if each[:3].lower() == text), None)


def _month(text: str) -> str | None:
    if text.isdigit() and 1 <= int(text) <= 12:
        return _MONTHS[int(text) - 1]
    return next((each for each in _MONTHS if each[:3].lower() == text), None)
