"""Time zones and calendars. Java writes the transitions of a zone and all fields of a calendar with them.

Python knows the zone's id and the calendar's moment, and keeps the rest as it was read. So a value that was read can be
written again, but one made in Python cannot.
"""

from __future__ import annotations

from redisson_dq import java
from redisson_dq.codecs.faults import Malformed
from redisson_dq.codecs.serialization.described import as_it_was, read_generic
from redisson_dq.codecs.serialization.handler import ClassHandler, field
from redisson_dq.codecs.serialization.protocols import DecoderProtocol
from redisson_dq.codecs.serialization.stream import Instance
from redisson_dq.errors import ArgumentError
from redisson_dq.java.time_numbers import java_date
from redisson_dq.java.zones import read_time_zone

__all__ = ["HANDLERS"]

_ZONE_INFO = "sun.util.calendar.ZoneInfo"


def _read_zone(node: Instance, decoder: DecoderProtocol) -> java.TimeZone:
    name = field(node, "ID", str)
    decoder.spend(len(name), node)
    made = java.TimeZone.read(str.__str__(name))
    made.described = decoder.complete(node, read_generic)
    return made


def _read_calendar(node: Instance, decoder: DecoderProtocol) -> java.GregorianCalendar:
    zones = node.sections["java.util.Calendar"].annotation if "java.util.Calendar" in node.sections else []
    if len(zones) != 1 or type(zones[0]) is not Instance or zones[0].desc.name != _ZONE_INFO:
        raise Malformed("a GregorianCalendar with a time zone of its own", node.offset)
    zone = field(zones[0], "ID", str)
    decoder.spend(len(zone), node)
    try:
        made = java.GregorianCalendar(
            java_date(field(node, "time", int)),
            read_time_zone(str.__str__(zone)),
            field(node, "lenient", bool),
            field(node, "firstDayOfWeek", int),
            field(node, "minimalDaysInFirstWeek", int),
            field(node, "gregorianCutover", int),
        )
    except ArgumentError as error:
        raise Malformed(str(error), node.offset) from error
    object.__setattr__(made, "described", decoder.complete(node, read_generic))
    return made


HANDLERS: tuple[ClassHandler, ...] = (
    ClassHandler(_ZONE_INFO, _read_zone, java.TimeZone, identity=True),
    ClassHandler(java.GregorianCalendar.java_name, _read_calendar, java.GregorianCalendar, identity=True),
    # Its id does not say what its rules are.
    as_it_was("java.util.SimpleTimeZone"),
)
