"""The texts of Locales: ``Locale.toString()`` of Jackson 2, and the language tags of Jackson 3.

Java reads some of these texts as another Locale, or not at all. Such a Locale is refused.
"""

from __future__ import annotations

import re

from redisson_dq import java
from redisson_dq.codecs.faults import Unencodable
from redisson_dq.errors import ArgumentError

__all__ = ["language_tag", "read_locale", "text_of_locale"]

_LANGUAGE_TAG = re.compile(
    r"([A-Za-z]{2,8})(?:-([A-Za-z]{4}))?(?:-([A-Za-z]{2}|[0-9]{3}))?"
    r"((?:-(?:[A-Za-z0-9]{5,8}|[0-9][A-Za-z0-9]{3}))*)(?:-([A-Za-z0-9](?:-[A-Za-z0-9]{1,8})+))?"
)
_EXTENSION = "_#"
_BUILT = (
    re.compile("([A-Za-z]{2,8})?"),
    re.compile("([A-Za-z]{2}|[0-9]{3})?"),
    re.compile("((^|[_-])([A-Za-z0-9]{5,8}|[0-9][A-Za-z0-9]{3}))*"),
)
_ONE_EXTENSION = re.compile("x-.*|[A-Za-z0-9](-[A-Za-z0-9]{2,8})+")


def text_of_locale(value: java.Locale) -> str:
    """The text that Jackson 2 writes. Raises Unencodable for a Locale that Jackson 2 reads back as another one."""
    text = value.language
    known = bool(value.language or value.country)
    if value.country or (value.language and (value.variant or value.script or value.extensions)):
        text += f"_{value.country}"
    if value.variant and known:
        text += f"_{value.variant}"
    if value.script and known:
        text += f"_#{value.script}"
    if value.extensions and known:
        text += f"_{'' if value.script else '#'}{value.extensions}"
    if _read_text(text) != value:
        raise Unencodable(f"Jackson 2 writes this Locale as {text[:80]!r}, which it reads as another: send its parts")
    return text


def language_tag(value: java.Locale) -> str:
    """The text that Jackson 3 writes. Raises Unencodable for a Locale that Jackson 3 reads back as another one."""
    variants = value.variant.split("_") if value.variant else []
    for variant in variants:
        if not (variant.isalnum() and (5 <= len(variant) <= 8 or (len(variant) == 4 and variant[0].isdigit()))):
            raise Unencodable(f"Jackson 3 writes a Locale as a language tag, which cannot hold the variant {variant}")
    parts = (value.script, value.country, *variants, value.extensions)
    if not value.language and not any(parts):
        return ""
    tag = "-".join(part for part in (value.language or "und", *parts) if part)
    if read_locale(tag) != value:
        raise Unencodable(f"Jackson 3 reads another Locale from {tag[:80]!r}: send its parts")
    return tag


def read_locale(text: str) -> java.Locale | None:
    """A Locale in the form of Jackson 2 or of Jackson 3. None for a text that is neither."""
    try:
        return _read_text(text) if "_" in text or "-" not in text else _read_tag(text)
    except ArgumentError:
        return None


def _read_tag(text: str) -> java.Locale | None:
    match = _LANGUAGE_TAG.fullmatch(f"und-{text}" if text.startswith("x-") else text)
    if match is None:
        return None
    language, script, country, variants, extensions = (part or "" for part in match.groups())
    return java.Locale(
        "" if language == "und" else language, country, variants[1:].replace("-", "_"), script, extensions
    )


def _read_text(text: str) -> java.Locale:
    """The Locale as Jackson 2 reads it: a script or an extension counts only if the other parts are well-formed."""
    language, country, rest = [*re.split("[_-]", text, maxsplit=2), "", ""][:3]
    if _EXTENSION not in text[len(language) + 1 :]:
        return java.Locale(language, country, rest)
    variant, _, marked = ("_" + rest).partition(_EXTENSION)
    variant = variant[1:]
    script, _, extensions = marked.partition("_")
    if not extensions and "-" in script:
        script, extensions = "", script
    parts = (language, country, variant)
    is_built = all(form.fullmatch(part) for form, part in zip(_BUILT, parts, strict=True))
    if is_built and (not extensions or _ONE_EXTENSION.fullmatch(extensions)):
        try:
            return java.Locale(*parts, script, extensions)
        except ArgumentError:
            pass
    return java.Locale(*parts)
