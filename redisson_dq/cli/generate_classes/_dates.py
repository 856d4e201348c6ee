"""The patterns of dates and times that @JsonFormat gives to fields."""

from __future__ import annotations

import re

from redisson_dq.cli.generate_classes._annotations import Annotation, AnnotationsByName
from redisson_dq.cli.generate_classes._classfile import Member
from redisson_dq.errors import ArgumentError
from redisson_dq.java.date_patterns import DatePattern
from redisson_dq.java.zones import time_zone_id

__all__ = ["date_pattern", "is_default_serializer"]

_CLASS_NAMES = re.compile(r"L([^;<>]+)")
_KNOWN = frozenset(("pattern", "timezone", "shape", "locale"))
#: Locales whose digits and calendar are the usual ones. Patterns of numbers are the same in all of them.
_LOCALES = re.compile(r"(?:|##default|(?:en|zh|de|fr|es|it|nl|pl|pt|ru|ko)(?:[_-][A-Z]{2})?)")
#: The serializers that JavaTimeModule has for these classes anyway.
_DEFAULTS = re.compile(
    r"com\.fasterxml\.jackson\.datatype\.jsr310\.(?:ser|deser)\."
    r"(?:LocalDateTime|LocalDate|LocalTime|Instant)(?:Serializer|Deserializer)"
)


def date_pattern(annotations: AnnotationsByName, member: Member) -> DatePattern | None:
    """The pattern of a field's dates and times; None if it has none, or one that a declaration cannot say."""
    said = annotations.get("JsonFormat")
    if said is None or not said.values.keys() <= _KNOWN or said.text("shape") not in ("", "ANY", "STRING"):
        return None
    names = _CLASS_NAMES.findall(member.signature or member.descriptor)
    if not names or not said.text("pattern") or not _LOCALES.fullmatch(said.text("locale")):
        return None
    zone: str | None = said.text("timezone").replace("##default", "") or None
    try:
        if zone is not None:
            zone = time_zone_id(zone)
    except ArgumentError:
        zone = "GMT"  # Java takes GMT where it does not know an id.
    try:
        pattern = DatePattern(said.text("pattern"), zone)
    except ArgumentError:
        return None
    return pattern if not pattern.misfit(names[-1].replace("/", ".")) else None


def is_default_serializer(one: Annotation) -> bool:
    """Whether this @JsonSerialize or @JsonDeserialize names the serializer that JavaTimeModule has anyway."""
    return one.values.keys() == {"using"} and _DEFAULTS.fullmatch(one.text("using")) is not None
