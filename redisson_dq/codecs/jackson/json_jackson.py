"""Redisson's JSON codec: every value as Jackson writes it, with the Java types that JSON does not show."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from redisson_dq.codecs.jackson import json
from redisson_dq.codecs.jackson.codecs import JacksonCodec
from redisson_dq.codecs.jackson.dialect import with_java_time, with_numbers_as_text, with_patterns
from redisson_dq.codecs.redissons import RedissonForm
from redisson_dq.java.date_patterns import PatternLike

__all__ = ["JsonJacksonCodec"]


class JsonJacksonCodec(JacksonCodec):
    """JSON with Java types: ``org.redisson.codec.JsonJacksonCodec``.

    ==================  ==============================================================================
    Python              JSON
    ==================  ==============================================================================
    None, bool          ``null``, ``true``, ``false``
    int                 ``5``; beyond 32 bits ``["java.lang.Long",..]``, then ``["java.math.BigInteger",..]``
    float               ``1.5``, as Double.toString writes it
    str                 ``"text"``
    bytes               ``["[B","base64"]``
    decimal.Decimal     ``["java.math.BigDecimal",1.50]``
    uuid.UUID           ``["java.util.UUID","123e4567-..."]``
    list, tuple         ``["java.util.ArrayList",[..]]``
    set, frozenset      ``["java.util.HashSet",[..]]``
    dict, keys str      ``{"@class":"java.util.LinkedHashMap",..}``
    declared class      ``{"@class":"com.acme.Order",..}``: its fields by name, those that are None left out
    declared enum       ``["com.acme.Color","RED"]``
    ==================  ==============================================================================

    The types of redisson_dq.java become the Java type of the same name. Inside a declared class the fields'
    types say where class names are.

    The bytes are those that Redisson writes for the same value, except where Redisson's own bytes lose the value or its
    type. There this codec writes the form that every Redisson reads right. A value of a final class (bytes, arrays,
    enums, records) carries its type also as the whole value, and so does a non-finite float. A None in a dict is
    written, not dropped.

    ``java_time``: ``"numbers"`` writes java.time's classes and Optional as a mapper with JavaTimeModule and Jdk8Module
    does, ``new JsonJacksonCodec(mapper)``. ``"text"`` is for a mapper that also disables WRITE_DATES_AS_TIMESTAMPS.
    Both forms are read, whatever ``java_time`` is. An Optional is written only in a field that is declared as one.

    ``naming="snake_case"``: as a mapper with ``PropertyNamingStrategies.SNAKE_CASE``.

    ``patterns``: the forms of a mapper's dates and times by Java class. ``{"java.util.Date": ("yyyy-MM-dd HH:mm:ss",
    "Asia/Shanghai")}`` is ``setDateFormat`` and the zone of Java's mapper, or else of its JVM.
    ``{"java.time.LocalDateTime": "yyyy-MM-dd HH:mm:ss"}`` is ``new LocalDateTimeSerializer(ofPattern(..))``.
    ``time_zone``: the zone of patterns that name none, also those of fields, as ``setTimeZone`` says; UTC by default.
    Raises EncodeError for a value that Java would read back as another one.

    ``as_text``: the classes of numbers that Java's mapper writes as texts. ``["java.lang.Long", "long"]`` is a module
    with ``addSerializer(Long.class, ToStringSerializer.instance)`` and the same for ``Long.TYPE``, as Spring's
    ``serializerByType`` adds it. Also ``"java.math.BigInteger"`` and ``"java.math.BigDecimal"``.

    Raises EncodeError for any other type, for types that Redisson's Jackson cannot write (java.time, Optional), for
    keys that are not str unless a field declares their type, for numbers of more than 1,000 digits, and for values
    nested more than 200 deep. Raises DecodeError for bytes that are not one JSON value, and for a Java class that is
    not declared (the message names it). O(size of the value or of the bytes).
    """

    _dumps = staticmethod(json.dumps)
    _quoted = staticmethod(json.quoted)
    _loads = staticmethod(json.loads)
    _doubt = staticmethod(json.doubt)

    def __init__(
        self,
        *,
        unknown: str = "refuse",
        redisson: str | None = None,
        java_time: str = "refuse",
        naming: str | None = None,
        patterns: Mapping[str, PatternLike] | None = None,
        time_zone: str | None = None,
        as_text: Iterable[str] = (),
    ) -> None:
        super().__init__(unknown=unknown, redisson=redisson, naming=naming)
        if RedissonForm.HALF_PAIR_IN_NAME.is_written_by(redisson):
            self._dumps = json.dumps_half_pairs
        dated = with_patterns(with_java_time(self._dialect, java_time), patterns, time_zone)
        self._dialect = with_numbers_as_text(dated, as_text)
