"""Jackson's annotations on a class: the names in its JSON, and the fields left out. Other codecs see nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Union

import attrs

from redisson_dq._common.texts import shown
from redisson_dq.errors import ArgumentError
from redisson_dq.java.date_patterns import DatePattern, PatternLike, patterns_of

__all__ = ["Json", "JsonNames", "json_of"]

#: By Java's name of a field, or of a constant of an enum: its name in JSON.
JsonNames = Mapping[str, Union[str, int]]


def _names(said: JsonNames) -> dict[str, str | int]:
    if not all(isinstance(key, str) and type(name) in (str, int) for key, name in dict(said).items()):
        raise ArgumentError(f"java.Json: names={said!r} is not a dict from Java's names to names in JSON")
    return dict(said)


def _aliases(said: Mapping[str, Iterable[str]]) -> dict[str, tuple[str, ...]]:
    for key, names in dict(said).items():
        if isinstance(names, str):
            raise ArgumentError(f"java.Json: aliases={{{key!r}: {names!r}}} has a text in place of a list of names")
    return {key: tuple(names) for key, names in dict(said).items()}


def _patterns(said: Mapping[str, PatternLike]) -> dict[str, DatePattern]:
    return patterns_of(said, "java.Json")


def _fields(said: Iterable[str]) -> tuple[str, ...]:
    if isinstance(said, str):
        raise ArgumentError(f"java.Json takes a list of Java's names of fields, not the text {said!r}")
    return tuple(said)


@attrs.frozen(eq=False)
class Json:
    """The annotations of Jackson on a Java class, for ``java_class(json=...)``. Fields and constants are given by their
    Java names.

    ``names``: the names in JSON that differ, as ``@JsonProperty`` and ``@JsonNaming`` give them. Of an enum they are
    those of its constants, which may be numbers. ``aliases``: further names under which a value is read. ``ignored``:
    fields that are neither written nor read. ``nulls``: fields that are written although they are None. ``order``: the
    fields that are written first, in this order; the others follow by their names. ``patterns``: the forms of dates
    and times, as ``@JsonFormat(pattern=)`` gives them: ``{"created": "yyyy-MM-dd HH:mm:ss"}``, or with a timezone
    ``{"created": ("yyyy-MM-dd HH:mm:ss", "GMT+8")}``. Without one, points in time are in the zone of the mapper, UTC
    by default. ``as_text``: fields whose numbers are written as texts, as with
    ``@JsonSerialize(using = ToStringSerializer.class)`` or ``@JsonFormat(shape = STRING)``. ``typed``: the name of the
    class is written also where the codec leaves it out, as with ``@JsonTypeInfo(use = Id.CLASS)``. ``refused``: a trait
    of the class that its JSON depends on and that these options do not say. Codecs of JSON then raise EncodeError and
    DecodeError with these words.

        >>> json = Json(names={"amount": "amt"}, aliases={"amount": ["sum"]}, ignored=["secret"])
        >>> json.names
        {'amount': 'amt'}

    Raises ArgumentError for arguments of another form. ``java_class`` raises it for fields that the class lacks.
    """

    names: Mapping[str, str | int] = attrs.field(factory=dict, converter=_names)
    aliases: Mapping[str, tuple[str, ...]] = attrs.field(factory=dict, converter=_aliases, kw_only=True)
    ignored: tuple[str, ...] = attrs.field(default=(), converter=_fields, kw_only=True)
    nulls: tuple[str, ...] = attrs.field(default=(), converter=_fields, kw_only=True)
    order: tuple[str, ...] = attrs.field(default=(), converter=_fields, kw_only=True)
    patterns: Mapping[str, DatePattern] = attrs.field(factory=dict, converter=_patterns, kw_only=True)
    as_text: tuple[str, ...] = attrs.field(default=(), converter=_fields, kw_only=True)
    typed: bool = attrs.field(default=False, kw_only=True)
    refused: str = attrs.field(default="", kw_only=True)

    def check(self, name: str, known: Collection[str]) -> None:
        """Raises ArgumentError for a field or constant that the class ``name`` does not have."""
        said = (*self.names, *self.aliases, *self.ignored, *self.nulls, *self.order, *self.patterns, *self.as_text)
        unknown = [one for one in said if one not in known]
        if unknown:
            raise ArgumentError(f"{name} has no {unknown[0]}, which json= names: it takes Java's names")

    def refusal(self, name: str) -> str:
        """Why the codecs of JSON do not take objects of the class ``name``. Empty if they do."""
        if not self.refused:
            return ""
        return (
            f"{name} has {self.refused}, which decides what Java writes as JSON and what it reads. The declaration "
            "cannot say it: send it with Kryo5Codec or SerializationCodec, or an object of a class without it"
        )


def json_of(said: Any) -> Json | None:
    """The Json of an argument ``json=``, which may give only the names."""
    if said is None or isinstance(said, Json):
        return said
    if isinstance(said, Mapping):
        return Json(said)
    raise ArgumentError(f"json must be a java.Json, or a dict from Java's names to names in JSON, not {shown(said)}")
